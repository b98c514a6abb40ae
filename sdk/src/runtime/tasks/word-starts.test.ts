import { expect, it } from "vitest";
import { wordStarts } from "./tag.ts";

const UNKNOWN = 9;

it("finds words by the prefix of continued tokens", () => {
  const spelled = ["play", "##ing", "e", "##e"].map(({ length }) => length);
  const offsets = Int32Array.of(0, 4, 4, 7, 8, 10, 8, 10);
  const starts = wordStarts({
    ...{ text: "playing e\u0301", ids: [0, 1, 2, 3], offsets, spelled },
  });
  // The accent is part of the text, but not of the token: transformers takes `e` for a part of a word.
  expect(starts).toEqual([true, false, false, false]);
});

it("counts characters outside the basic plane once, as Python does", () => {
  const starts = wordStarts({ text: "🗼", ids: [0], offsets: Int32Array.of(0, 2), spelled: [1] });
  expect(starts).toEqual([true]);
});

it("finds words next to spaces, without a prefix", () => {
  const text = "so, 🗼x yes";
  const offsets = Int32Array.of(0, 2, 2, 3, 4, 6, 6, 7, 7, 11);
  expect(wordStarts({ text, ids: [0, 1, 2, 3, 4], offsets })).toEqual([true, false, true, false, true]);
});

it("begins a word with each unknown token", () => {
  const offsets = Int32Array.of(0, 1, 1, 2);
  expect(wordStarts({ text: "ab", ids: [0, UNKNOWN], offsets, unknownId: UNKNOWN })).toEqual([true, true]);
  expect(wordStarts({ text: "ab", ids: [0, UNKNOWN], offsets })).toEqual([true, false]);
});
