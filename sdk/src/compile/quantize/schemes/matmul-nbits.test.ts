import { describe, expect, it } from "vitest";
import { identity, quantizedLayer, randomMatrix, resultOf, rowsOf } from "#test/fixtures/quantized-layer.ts";
import { runOnnx } from "#test/oracles/run-onnx.ts";
import { runWeb } from "#test/oracles/run-web.ts";
import { tensor } from "../../graph/tensor.ts";
import { encodeOnnx } from "../../onnx/to-onnx.ts";
import { type QuantizedWeight, quantizeWeight } from "../weights/quantize-weight.ts";
import { weightQuantizer } from "../weights/weight-quantizer.ts";
import { matMulNBits } from "./matmul-nbits.ts";

/** Rounding error of float32 sums, relative to the largest number. Measured: 1.5 · 10⁻⁷. */
const FLOAT32_ROUNDING = 5e-7;

const toNearest = { clipping: false, gptq: false, biasCorrection: false };
const OUTPUTS = 18;

const engines = [
  ["native", runOnnx],
  ["WebAssembly", runWeb],
] as const;
const cases = engines.flatMap(([engine, run]) =>
  ([8, 4] as const).flatMap((bits) =>
    [
      { inputs: 64, block: 32 },
      { inputs: 48, block: 32 },
      { inputs: 96, block: 32 },
      { inputs: 40, block: 16 },
    ].map((sizes) => ({ engine, run, bits, ...sizes })),
  ),
);

/** Returns the dequantized weight, [in, out]. */
function restored({ values, scales, zeroPoints }: QuantizedWeight, block: number): number[] {
  const blocks = scales.length / OUTPUTS;
  return Array.from(values, (integer, at) => {
    const index = (at % OUTPUTS) * blocks + Math.floor(Math.floor(at / OUTPUTS) / block);
    return (scales[index] as number) * (integer - (zeroPoints[index] as number));
  });
}

describe.each(cases)(
  "MatMulNBits, $engine, $bits bits, $inputs inputs in blocks of $block",
  ({ run, bits, inputs, block }) => {
    const weight = randomMatrix(inputs, OUTPUTS, 1).map(
      (value, at) => value + (Math.floor(at / OUTPUTS / block) % 2 ? 0.7 : -0.4),
    );
    const levels = { min: 0, max: 2 ** bits - 1, symmetric: false, block };
    const quantized = quantizeWeight(tensor("float32", [inputs, OUTPUTS], weight), levels, toNearest, undefined);
    const model = async () =>
      encodeOnnx(await quantizedLayer(matMulNBits({ bits, block }), weightQuantizer(toNearest), weight, inputs));
    const wanted = restored(quantized, block);

    it("computes with each weight as scale · (integer − zero point)", async () => {
      expect(new Set(quantized.zeroPoints).size).toBeGreaterThan(2);
      const found = resultOf(await run(await model(), rowsOf(identity(inputs), inputs)), inputs * OUTPUTS);
      const largest = Math.max(...wanted.map(Math.abs));
      found.forEach((value, at) => {
        expect(Math.abs(value - (wanted[at] as number))).toBeLessThan(FLOAT32_ROUNDING * largest);
      });
    });

    it("differs from float32 activations by at most half a scale per activation", async () => {
      const x = randomMatrix(inputs, 3, 2);
      const found = resultOf(await run(await model(), rowsOf(x, inputs)), 3 * OUTPUTS);
      found.forEach((value, at) => {
        const [row, output] = [Math.floor(at / OUTPUTS), at % OUTPUTS];
        const own = x.subarray(row * inputs, (row + 1) * inputs);
        let [exact, bound] = [0, 0];
        own.forEach((activation, i) => {
          const start = Math.floor(i / block) * block;
          const peak = Math.max(...own.subarray(start, start + block).map(Math.abs));
          const w = wanted[i * OUTPUTS + output] as number;
          exact += activation * w;
          bound += (0.5 * (peak / 127) + 1e-6 * peak) * Math.abs(w);
        });
        expect(Math.abs(value - exact)).toBeLessThanOrEqual(bound);
      });
    });
  },
);
