import { describe, expect, it } from "vitest";
import { editDistance, meantNames, similarNames } from "./similar-names.ts";

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

describe("similarNames", () => {
  const known = ["all-minilm-l6-v2", "all-minilm-l12-v2", "bge-small-en-v1.5", "/v1/embed", "/v1/embeddings"];

  it.each([
    ["all-minilm", ["all-minilm-l6-v2", "all-minilm-l12-v2"]],
    ["bge-smal-en-v1.5", ["bge-small-en-v1.5"]],
    ["/v1/embedd", ["/v1/embed", "/v1/embeddings"]],
    ["/v1", []],
    ["gpt", []],
    ["x".repeat(100_000), []],
  ])("finds what %s can be meant for", (name, expected) => {
    expect(similarNames(name, known)).toEqual(expected);
  });

  it("asks", () => {
    expect(meantNames("all-minilm", known)).toBe(" Did you mean all-minilm-l6-v2 or all-minilm-l12-v2?");
    expect(meantNames("gpt", known)).toBe("");
  });
});
