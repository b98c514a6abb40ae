import { describe, expect, it } from "vitest";
import { extentOf, gather, isContiguous, type StridedView } from "./stored-tensors.ts";

/** Gathers numbers that count up from 0. */
function gathered(view: StridedView): number[] {
  const source = Float64Array.from({ length: extentOf(view) }, (_, i) => i);
  return [...new Float64Array(gather(new Uint8Array(source.buffer), 8, view).buffer)];
}

describe("isContiguous", () => {
  it.each<[number[], number[], boolean]>([
    [[2, 3], [3, 1], true],
    [[2, 3], [1, 2], false],
    [[2, 3], [4, 1], false],
    [[1, 3, 1], [99, 1, 77], true],
    [[3], [0], false],
    [[], [], true],
    [[0, 3], [3, 1], true],
  ])("shape %o with strides %o: %s", (shape, strides, expected) => {
    expect(isContiguous({ shape, strides })).toBe(expected);
  });
});

describe("gather", () => {
  it.each<[string, StridedView, number[]]>([
    ["a transposed matrix", { shape: [3, 2], strides: [1, 3] }, [0, 3, 1, 4, 2, 5]],
    ["every second column", { shape: [2, 2], strides: [4, 2] }, [0, 2, 4, 6]],
    ["repeated elements", { shape: [2, 2], strides: [0, 1] }, [0, 1, 0, 1]],
    ["three axes", { shape: [2, 2, 2], strides: [1, 4, 2] }, [0, 2, 4, 6, 1, 3, 5, 7]],
    ["an axis of size 1", { shape: [2, 1, 2], strides: [1, 99, 2] }, [0, 2, 1, 3]],
    ["a scalar", { shape: [], strides: [] }, [0]],
    ["no elements", { shape: [2, 0], strides: [1, 2] }, []],
  ])("copies %s", (_, view, expected) => {
    expect(gathered(view)).toEqual(expected);
  });

  it("copies elements of each size", () => {
    for (const size of [1, 2, 4, 8]) {
      const source = Uint8Array.from({ length: 4 * size }, (_, i) => i);
      const rows = [0, 2, 1, 3].map((i) => [...source.subarray(i * size, (i + 1) * size)]);
      expect([...gather(source, size, { shape: [2, 2], strides: [1, 2] })]).toEqual(rows.flat());
    }
  });
});
