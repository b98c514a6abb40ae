import { expect, it } from "vitest";
import { editDistance } from "./edit-distance.ts";

it.each([
  ["", "", 0],
  ["", "abc", 3],
  ["abc", "", 3],
  ["kitten", "sitting", 3],
  ["input_to_long", "input_too_long", 1],
  ["same", "same", 0],
])("from %j to %j: %i", (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance);
});
