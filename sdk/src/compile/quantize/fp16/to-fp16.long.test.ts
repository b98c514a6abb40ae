import { expect, it } from "vitest";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { readGolden } from "#test/fixtures/golden.ts";
import { readCheckpoint } from "#test/fixtures/read-checkpoint.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { floatCasts } from "#test/oracles/halved.ts";
import { oneModel } from "../../../runtime/engine/engine.ts";
import { ortNodeEngine } from "../../../runtime/engine/ort-node/index.ts";
import { sentenceVector } from "../../../runtime/tasks/sentence-vector.ts";
import { parity } from "../../accuracy/parity.ts";
import { encoderWeights } from "../../checkpoint/encoder-weights.ts";
import { encodeOnnx } from "../../onnx/to-onnx.ts";
import { toFp16 } from "./to-fp16.ts";

describeShared("models/all-MiniLM-L6-v2", "all-MiniLM-L6-v2 in half precision", (folder) => {
  /**
   * Minimum cosines with the vectors that transformers computes (golden.json in the model's folder).
   * Measured: 0.999 999 4 on average, 0.999 998 9 at worst.
   */
  const MIN_COSINES = { mean: 0.999_99, worst: 0.999_99 };

  it("computes the vectors of transformers with half the bytes and one cast", async () => {
    const checkpoint = await readCheckpoint(folder);
    const cases = await readGolden(folder);
    const original = await fusedGraph(checkpoint.config, encoderWeights(checkpoint));
    const graph = toFp16(original);
    const model = encodeOnnx(graph);
    const session = await ortNodeEngine({ threads: 1 }).load(oneModel(model));
    try {
      const hiddenStates = await session.run(cases.map(({ input_ids }) => Int32Array.from(input_ids)));
      const vectors = hiddenStates.map((rows) =>
        sentenceVector(rows, checkpoint.config.hiddenSize, checkpoint.modules),
      );
      const { meanCosine, minCosine } = parity(
        cases.map(({ embedding }) => Float32Array.from(embedding)),
        vectors,
      );
      expect(meanCosine).toBeGreaterThanOrEqual(MIN_COSINES.mean);
      expect(minCosine).toBeGreaterThanOrEqual(MIN_COSINES.worst);
    } finally {
      await session.release();
    }
    expect(floatCasts(graph)).toHaveLength(1);
    expect(model.length / encodeOnnx(original).length).toBeLessThan(0.501);
  });
});
