import { describe, expect, it } from "vitest";
import { correlatedTokens, statisticsOf, withoutFactors } from "#test/fixtures/activation-statistics.ts";
import { randomMatrix } from "#test/fixtures/quantized-layer.ts";
import { tensor } from "../../graph/tensor.ts";
import type { ScaledStatistics } from "../calibration/activation-statistics.ts";
import { INT8_SYMMETRIC } from "./quantization-parameters.ts";
import { quantizeWeight } from "./quantize-weight.ts";
import { quantizeWeights, type WeightTask } from "./weight-quantizer.ts";

const rounding = { clipping: true, gptq: true, biasCorrection: true };

/** Tasks of different sizes. With 600 outputs they are large enough for threads. */
const tasksWith = (outputs: number): WeightTask[] =>
  [96, 40, 200, 64].map((inputs, i) => {
    const weight = tensor("float32", [inputs, outputs], randomMatrix(inputs, outputs, i));
    const statistics = statisticsOf(correlatedTokens(inputs, 50, i));
    const factors = Float32Array.from({ length: inputs }, (_, channel) => 2 ** (channel % 3));
    return { weight, precision: INT8_SYMMETRIC, rounding, statistics: () => ({ ...statistics, factors }) };
  });

describe("quantizeWeights", () => {
  it.each([
    ["on this thread", 8],
    ["on threads", 800],
  ])("returns the results of quantizeWeight in the order of the tasks, %s", async (_, outputs) => {
    const tasks = tasksWith(outputs);
    const fractions: number[] = [];
    const found = await quantizeWeights(tasks, { progress: (fraction) => fractions.push(fraction) });
    expect(found).toEqual(
      tasks.map(({ weight, precision, statistics }) => quantizeWeight(weight, precision, rounding, statistics())),
    );
    expect(fractions).toEqual([0.25, 0.5, 0.75, 1]);
  });

  it("uses the statistics of the scaled input", async () => {
    const [task] = tasksWith(8) as [WeightTask];
    const statistics = task.statistics() as ScaledStatistics;
    const [scaled, unscaled] = [withoutFactors(statistics), { ...statistics, factors: undefined }];
    expect(await quantizeWeights([task])).toEqual(await quantizeWeights([{ ...task, statistics: () => scaled }]));
    expect(await quantizeWeights([task])).not.toEqual(await quantizeWeights([{ ...task, statistics: () => unscaled }]));
  });

  it("stops its threads when the signal aborts", async () => {
    const stop = new AbortController();
    const work = quantizeWeights(tasksWith(800), { signal: stop.signal, progress: () => stop.abort() });
    await expect(work).rejects.toMatchObject({ code: "aborted" });
  });

  it("passes on the error of a thread", async () => {
    const tasks = tasksWith(800).map((task) => ({ ...task, precision: undefined as never }));
    await expect(quantizeWeights(tasks)).rejects.toThrow(TypeError);
  });
});
