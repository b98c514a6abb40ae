import fc from "fast-check";
import { expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { repeatedBlocks } from "./outline.ts";

const folded = (text: string) =>
  repeatedBlocks([...text], (letter) => letter)
    .map(({ items, count }) => (count > 1 ? `${count}(${items.join("")})` : items.join("")))
    .join(" ");

it.each([
  ["", ""],
  ["abc", "abc"],
  ["aaa", "3(a)"],
  ["xabcabcabcy", "x 3(abc) y"],
  ["abcabca", "2(abc) a"],
  ["aabaab", "2(aab)"],
  ["ababcabab", "2(ab) c 2(ab)"],
])("folds %s to %s", (text, expected) => {
  expect(folded(text)).toBe(expected);
});

it("keeps all items in order", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 40 }), (letters) => {
      const blocks = repeatedBlocks(letters, (letter) => letter);
      expect(blocks.flatMap(({ items, count }) => Array.from({ length: count }, () => items).flat())).toEqual(letters);
    }),
    seeded(500),
  );
});
