import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { charsmap, nmtNfkc } from "#test/tokenizer/charsmap.ts";
import { readCharsmap } from "./charsmap-table.ts";

const bytes = charsmap(nmtNfkc());

describe("readCharsmap", () => {
  it("reads all keys of one character, and the usable keys of two", () => {
    const written = nmtNfkc();
    const read = readCharsmap(bytes);
    const singles = [...written].filter(([key]) => Array.from(key).length === 1);
    expect(singles.filter(([key, result]) => read?.get(key) !== result)).toEqual([]);
    expect(read?.get("e\u0301")).toBe("é");
    // This key is never used: lookup finds the shorter key E\u0323 first.
    expect(written.get("E\u0323\u0302")).toBe("Ệ");
    expect(read?.get("E\u0323\u0302")).toBeUndefined();
    expect(read?.get("か\u3099")).toBeUndefined();
  });

  it.each([
    ["three characters", "a\u0301\u0301"],
    ["two characters with one above U+FFFF", "a\u{1e8d0}"],
  ])("does not read a key of %s", (_, key) => {
    expect(readCharsmap(charsmap(new Map([[key, "b"]])))).toBeUndefined();
  });

  it("reads a damaged charsmap with other entries, or refuses it", () => {
    const outcomes = new Set<boolean>();
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), fc.nat(bytes.length), (changes, length) => {
        const copy = bytes.slice(0, length % 2 ? length : bytes.length);
        for (const [at, byte] of changes) copy[at] = byte;
        outcomes.add(readCharsmap(copy) !== undefined);
      }),
      seeded(100),
    );
    expect(outcomes.size).toBe(2);
  });
});
