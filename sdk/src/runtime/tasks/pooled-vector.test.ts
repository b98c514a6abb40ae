import { expect, it } from "vitest";
import { pooledVector } from "./embed.ts";

const vectors = [Float32Array.of(1, 0), Float32Array.of(0, 1)];

it("weighs the vectors of chunks by their pooled tokens", () => {
  const [whole, part] = [new Int32Array(6), new Int32Array(2)];
  expect(pooledVector(vectors, [whole, part], false)).toEqual(Float32Array.of(0.75, 0.25));
  const marked = { ids: whole, pooledFrom: 4 };
  expect(pooledVector(vectors, [marked, part], false)).toEqual(Float32Array.of(0.5, 0.5));
});

it("keeps the vector of a text of one chunk", () => {
  const only = Float32Array.of(3, 0);
  expect(pooledVector([only], [new Int32Array(9)], true)).toEqual(only);
});
