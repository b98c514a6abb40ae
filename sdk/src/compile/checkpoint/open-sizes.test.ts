import { expect, it } from "vitest";
import { type Dim, mulDims, symbolicDim } from "../graph/dim.ts";
import { BATCH, openedShape, SEQUENCE } from "./open-sizes.ts";

const [b, s, any] = [BATCH, SEQUENCE, "any"].map(symbolicDim) as [Dim, Dim, Dim];
const [one, many] = [
  { texts: 1, tokens: 24 },
  { texts: undefined, tokens: 24 },
];

it.each<[string, readonly Dim[], readonly Dim[], typeof one | typeof many, string]>([
  ["heads", [b, s, 32], [1, 24, 4, 8], one, "batch,sequence,4,8"],
  ["heads of any number of texts", [b, s, 32], [any, 24, 4, 8], many, "batch,sequence,4,8"],
  ["a mask", [b, s], [1, 1, 1, 24], one, "batch,1,1,sequence"],
  ["rows", [b, s, 32], [24, 32], one, "batch*sequence,32"],
  ["texts of rows", [mulDims(b, s), 32], [1, 24, 32], one, "batch,sequence,32"],
  ["several texts of rows", [mulDims(b, s), 32], [2, 24, 32], { texts: 2, tokens: 24 }, "batch,sequence,32"],
  ["a size as large as the length", [b, s, 24], [1, 24, 4, 6], one, "batch,sequence,4,6"],
])("opens the shape of %s", (_, from, to, fixed, expected) => {
  expect(`${openedShape(from, to, fixed)}`).toBe(expected);
});

it("does not guess", () => {
  expect(openedShape([b, s], [1, 4, 6], one)).toBeUndefined();
  expect(openedShape([b, s], [1, 25], one)).toBeUndefined();
});
