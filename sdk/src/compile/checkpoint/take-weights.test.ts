import { expect, it } from "vitest";
import { tensor, toFloat32 } from "../graph/tensor.ts";
import { repeatHeads } from "./take-weights.ts";

// Two heads of two numbers, on three inputs.
const weight = tensor(
  "float32",
  [4, 3],
  Float32Array.from({ length: 12 }, (_, i) => i),
);
const bias = tensor("float32", [4], Float32Array.of(10, 11, 12, 13));

it("repeats each head for the heads of queries that share it", () => {
  const repeated = repeatHeads({ weight, bias }, 2, 4);
  expect(repeated.weight.shape).toEqual([8, 3]);
  expect([...toFloat32(repeated.weight)]).toEqual([
    ...[0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5],
    ...[6, 7, 8, 9, 10, 11, 6, 7, 8, 9, 10, 11],
  ]);
  expect([...toFloat32(repeated.bias as typeof bias)]).toEqual([10, 11, 10, 11, 12, 13, 12, 13]);
});

it("keeps a layer whose heads are not shared", () => {
  const layer = { weight, bias: undefined };
  expect(repeatHeads(layer, 2, 2)).toBe(layer);
  expect(repeatHeads(layer, 2, 4).bias).toBeUndefined();
});
