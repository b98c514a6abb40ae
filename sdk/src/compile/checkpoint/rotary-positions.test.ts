import * as ort from "onnxruntime-node";
import { expect, it } from "vitest";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { runGraph } from "#test/oracles/run-graph.ts";
import { symbolicDim } from "../graph/dim.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { GraphWriter } from "./graph-writer.ts";
import { writeRotated, writeRotation } from "./rotary-positions.ts";

/**
 * Maximum difference from float64. Angles are at most 500. Rounding to float32 changes such an angle by at most 1.6e-5,
 * which is half a unit in the last place.
 */
const FLOAT32_ANGLES = 3e-5;

it.each([
  [2, 10_000],
  [8, 1000],
  [64, 160_000],
])("rotates pairs of elements like complex numbers: size %d, base %d", async (size, theta) => {
  const [heads, sequence] = [2, 501];
  const g = new GraphWriter("rotary");
  const ids = g.graph.input("ids", { dtype: "int64", shape: [symbolicDim("batch"), symbolicDim("sequence")] });
  const x = g.graph.input("x", {
    dtype: "float32",
    shape: [symbolicDim("batch"), heads, symbolicDim("sequence"), size],
  });
  const value = writeRotated(g, "y", x, size, writeRotation(g, { theta, size, scaling: undefined }, 512, ids));
  g.graph.outputs.push({ name: "y", value, declaration: undefined });
  inferShapes(g.graph);

  const random = randomNumbers(1);
  const values = Float32Array.from({ length: heads * sequence * size }, () => 2 * random() - 1);
  const feed = {
    ids: new ort.Tensor("int64", new BigInt64Array(sequence), [1, sequence]),
    x: new ort.Tensor("float32", values, [1, heads, sequence, size]),
  };
  const [outputs] = await runGraph(g.graph, [feed]);
  const found = outputs?.["y"]?.data as Float32Array;

  const half = size / 2;
  let worst = 0;
  for (let row = 0; row < heads * sequence; row++) {
    for (let i = 0; i < half; i++) {
      const [a, b] = [values[row * size + i] as number, values[row * size + half + i] as number];
      const angle = (row % sequence) * theta ** ((-2 * i) / size);
      const [real, imaginary] = [a * Math.cos(angle) - b * Math.sin(angle), a * Math.sin(angle) + b * Math.cos(angle)];
      worst = Math.max(worst, Math.abs((found[row * size + i] as number) - real));
      worst = Math.max(worst, Math.abs((found[row * size + half + i] as number) - imaginary));
    }
  }
  expect(worst).toBeLessThan(FLOAT32_ANGLES);
});
