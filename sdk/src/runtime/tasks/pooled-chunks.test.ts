import { expect, it } from "vitest";
import { pooledChunks } from "./embed.ts";

const [first, second] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];

it("weighs the vectors of chunks by their pooled tokens", () => {
  const [whole, part] = [new Int32Array(6), new Int32Array(2)];
  expect(pooledChunks([first, second], [[whole, part]], false)).toEqual([Float32Array.of(0.75, 0.25)]);
  const marked = { ids: whole, pooledFrom: 4 };
  expect(pooledChunks([first, second], [[marked, part]], false)).toEqual([Float32Array.of(0.5, 0.5)]);
});

it("keeps the vector of a text of one chunk", () => {
  expect(pooledChunks([first, second], [[new Int32Array(1)], [new Int32Array(9)]], true)).toEqual([first, second]);
});
