import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { type InputLine, lineSplitter } from "./line-splitter.ts";

const MAX_BYTES = 8;

/** Splits a file that arrives in pieces of the given sizes, and then in one piece. */
function split(file: Uint8Array, sizes: readonly number[]): InputLine[] {
  const splitter = lineSplitter(1, MAX_BYTES);
  const lines: InputLine[] = [];
  let at = 0;
  for (const size of [...sizes, file.length]) {
    lines.push(...splitter.push(file.subarray(at, at + size)));
    at += size;
  }
  return [...lines, ...splitter.end()];
}

const text = (line: InputLine) => line.bytes && new TextDecoder().decode(line.bytes);

describe("lineSplitter", () => {
  it("numbers the lines, with or without a line feed at the end", () => {
    const lines = split(new TextEncoder().encode("a\n\nbcd"), []);
    expect(lines.map((line) => [line.number, text(line), line.size])).toEqual([
      [1, "a", 2],
      [2, "", 1],
      [3, "bcd", 3],
    ]);
    expect(split(new TextEncoder().encode("a\n"), [])).toHaveLength(1);
    expect(split(new Uint8Array(), [])).toEqual([]);
  });

  it("leaves out the content of lines that are too long, and goes on after them", () => {
    const lines = split(new TextEncoder().encode("12345678\n123456789\nb\n123456789"), [3, 3, 6]);
    expect(lines.map((line) => [text(line), line.size])).toEqual([
      ["12345678", 9],
      [undefined, 10],
      ["b", 2],
      [undefined, 9],
    ]);
  });

  it("finds the same lines however the file is cut into pieces, and every byte belongs to a line", () => {
    const file = fc.array(fc.constantFrom("a", "b", "\n", "ä"), { maxLength: 60 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(file, fc.array(fc.nat(7), { maxLength: 30 }), (content, sizes) => {
        const bytes = new TextEncoder().encode(content);
        const lines = split(bytes, sizes);
        const expected =
          content.endsWith("\n") || content === "" ? content.split("\n").slice(0, -1) : content.split("\n");
        const short = (line: string) => (new TextEncoder().encode(line).length > MAX_BYTES ? undefined : line);
        expect(lines.map(text)).toEqual(expected.map(short));
        expect(lines.reduce((sum, { size }) => sum + size, 0)).toBe(bytes.length);
      }),
      seeded(300),
    );
  });
});
