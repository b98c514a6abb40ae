import { expect, it } from "vitest";
import { tokenIds } from "./token-names.ts";

const added = ["<new>", "b", "", "<newer>"].map((content) => ({ id: 77, content }));

it("gives added tokens the ids of the vocabulary, and others the next ones, as the Rust tokenizers do", () => {
  const ids = { a: 0, b: 1, "<new>": 2, "<newer>": 3 };
  expect(Object.fromEntries(tokenIds({ added_tokens: added, model: { vocab: { a: 0, b: 1 } } }))).toEqual(ids);
  const pieces = [
    ["a", -1],
    ["b", -2],
  ];
  expect(Object.fromEntries(tokenIds({ added_tokens: added, model: { vocab: pieces } }))).toEqual(ids);
  expect(tokenIds({ model: 7 }).size).toBe(0);
});
