import fc from "fast-check";
import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { NamedGraph } from "../../../../test/suites/named-graph.ts";
import { runOnnx } from "../../../../test/suites/run-onnx.ts";
import { seeded } from "../../../../test/suites/seeded.ts";
import { int } from "../graph/attribute.ts";
import { tensor, toFloat32 } from "../graph/tensor.ts";
import { encodeOnnx } from "../onnx/encode.ts";
import { quantizeRowBlocks } from "./row-blocks.ts";

/** Half of a step, and the last bit of the float64 in which the test divides. */
const HALF_A_STEP = 0.5 * (1 + 1e-12);

/** Numbers of very different size, so that neighbouring blocks differ. */
const number = fc.oneof(
  fc.float({ noNaN: true, noDefaultInfinity: true }),
  fc.float({ noNaN: true, min: -1, max: 1 }),
  fc.constantFrom(0, 2 ** -149, 190 * 2 ** -149, 3.4028234663852886e38),
);
const table = (block: number) =>
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 }))
    .chain(([rows, blocks]) =>
      fc
        .array(number, { minLength: rows * blocks * block, maxLength: rows * blocks * block })
        .map((values) => tensor("float32", [rows, blocks * block], Float32Array.from(values))),
    );

describe("quantizeRowBlocks", () => {
  it.each([1, 4, 16])("is off by half a step of its block at most, with blocks of %d", (block) => {
    fc.assert(
      fc.property(table(block), (source) => {
        const quantized = quantizeRowBlocks(source, block);
        const scales = toFloat32(quantized.scales);
        expect(scales.length * block).toBe(quantized.table.data.length);
        toFloat32(source).forEach((value, i) => {
          const step = scales[Math.floor(i / block)] as number;
          expect(Number.isFinite(step) && step > 0).toBe(true);
          const byte = quantized.table.data[i] as number;
          expect(Math.abs(value / step - (byte - 128))).toBeLessThanOrEqual(HALF_A_STEP);
          expect(byte).toBeGreaterThan(0);
        });
      }),
      seeded(200),
    );
  });

  it("puts zero at 128 and the largest number of a block at 1 or 255", () => {
    const { table, scales } = quantizeRowBlocks(tensor("float32", [2, 4], Float32Array.of(0, 1, -3, 0, 0, 0, 0, 5)), 2);
    expect(table).toMatchObject({ dtype: "uint8", shape: [2, 4] });
    expect([...table.data]).toEqual([128, 255, 1, 128, 128, 128, 128, 255]);
    expect(scales).toMatchObject({ dtype: "float32", shape: [2, 2] });
  });

  it("rounds by the step that is stored, which float32 has rounded", () => {
    // Half of a peak is 63.5 steps, give or take the rounding of the step: a tie that it decides.
    for (let peak = 1; peak <= 20; peak++) {
      const { table, scales } = quantizeRowBlocks(tensor("float32", [1, 2], Float32Array.of(peak, peak / 2)), 2);
      const [step = 0] = toFloat32(scales);
      expect(table.data[1], `peak ${peak}`).toBe(128 + Math.round(peak / 2 / step));
    }
  });

  it("is read by onnxruntime's GatherBlockQuantized as it is meant", async () => {
    const [rows, width, block] = [3, 32, 16];
    const values = Float32Array.from({ length: rows * width }, (_, i) => Math.sin(i) * 10 ** ((i >> 4) - 3));
    const { table, scales } = quantizeRowBlocks(tensor("float32", [rows, width], values), block);
    const g = new NamedGraph("gather", [{ name: "ids", dtype: "int64", shape: ["n"] }]);
    const inputs = [g.constant("table", table), "ids", g.constant("scales", scales)];
    g.contrib("y", "GatherBlockQuantized", inputs, {
      bits: int(8),
      block_size: int(block),
      gather_axis: int(0),
      quantize_axis: int(1),
    });
    const graph = g.outputs("y");
    const ids = [2, 0, 1];
    const { y } = await runOnnx(encodeOnnx(graph), {
      ids: new ort.Tensor("int64", BigInt64Array.from(ids, BigInt), [3]),
    });
    const steps = toFloat32(scales);
    const expected = ids.flatMap((id) =>
      Array.from({ length: width }, (_, j) => {
        const i = id * width + j;
        return Math.fround(((table.data[i] as number) - 128) * (steps[Math.floor(i / block)] as number));
      }),
    );
    expect(Array.from(y?.data as Float32Array)).toEqual(expected);
  });
});
