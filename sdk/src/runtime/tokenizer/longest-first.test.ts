import { describe, expect, it } from "vitest";
import { longestFirst } from "./longest-first.ts";

describe("longestFirst", () => {
  it.each([
    ["keeps texts that fit", [3, 4, 7], [3, 4]],
    ["cuts only the longer text while the other is shorter", [9, 2, 7], [5, 2]],
    ["cuts only the second if it is longer", [2, 9, 7], [2, 5]],
    ["cuts both to the same length", [9, 8, 6], [3, 3]],
    ["leaves one token more to the text that was longer", [9, 8, 7], [4, 3]],
    ["leaves one token more to the second of two equal texts", [9, 9, 7], [3, 4]],
    ["gives all room if the other text is empty", [0, 9, 5], [0, 5]],
    ["keeps nothing without room", [9, 8, 0], [0, 0]],
  ] as const)("%s", (_, [first, second, room], kept) => {
    expect(longestFirst(first, second, room)).toEqual(kept);
  });
});
