import { describe, expect, it } from "vitest";
import { memoryFile, zipFile } from "#test/fixtures/torch-file.ts";
import type { FileFaults } from "./stored-file.ts";
import { entryRange, zipEntries } from "./zip-entries.ts";

const faults: FileFaults = { invalid: (fault) => new Error(fault), unsupported: (fault) => new Error(fault) };
const contents = { "a/data.pkl": "pickle", "a/data/0": "12345678", "a/é": "" };

/** Reads all entries. */
function contentsOf(bytes: Uint8Array<ArrayBuffer>): Record<string, string> {
  const file = memoryFile(bytes);
  return Object.fromEntries(
    Array.from(zipEntries(file, faults), ([name, entry]) => {
      const { begin, end } = entryRange(file, entry, faults);
      return [name, Buffer.from(file.subarray(begin, end)).toString()];
    }),
  );
}

/** Replaces bytes, counted from the end if `at` is negative. */
function edited(bytes: Uint8Array<ArrayBuffer>, at: number, ...by: number[]): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice();
  copy.set(by, at < 0 ? copy.length + at : at);
  return copy;
}

const [narrow, wide] = [zipFile(contents), zipFile(contents, { isZip64: true })];
const HUGE = [0xff, 0xff, 0xff, 0x7f];
/** Where the directory begins. */
const directory = (bytes: Uint8Array): number => Buffer.from(bytes).indexOf("PK\x01\x02");

describe("zipEntries", () => {
  it.each([
    ["with 32-bit sizes", {}],
    ["with 64-bit sizes", { isZip64: true }],
    ["with a comment", { comment: "PK\x05\x06 a comment" }],
  ])("finds the entries of an archive %s", (_, options) => {
    expect(contentsOf(zipFile(contents, options))).toEqual(contents);
  });

  it("reads the directory and the headers of entries, not their bytes", () => {
    const file = memoryFile(zipFile({ large: new Uint8Array(2 ** 20) }));
    const [entry] = zipEntries(file, faults).values();
    if (entry) entryRange(file, entry, faults);
    expect(file.readBytes).toBeLessThan(2 ** 17);
  });

  it.each<[string, Uint8Array<ArrayBuffer>, string]>([
    ["an empty file", new Uint8Array(), "it is not a zip archive"],
    ["a file without an end", narrow.slice(0, -1), "it is not a zip archive"],
    ["a directory beyond the file", edited(narrow, -6, ...HUGE), "its directory lies outside the file"],
    ["a directory that is too large", edited(narrow, -10, ...HUGE), "its directory lies outside the file"],
    ["a directory that is not there", edited(narrow, -6, 0, 0, 0, 0), "its directory is damaged"],
    ["too many entries", edited(narrow, -12, 4), "its directory is cut off"],
    ["too few entries", edited(narrow, -12, 2), "its directory has another size than its entries"],
    ["two ends that differ", edited(wide, -12, 4, 0), "its two end records contradict each other"],
    ["a zip64 record beyond the file", edited(wide, -34, ...HUGE), "its zip64 record lies outside the file"],
    ["a zip64 record that is not there", edited(wide, -34, 0, 0, 0, 0), "its zip64 record is missing"],
    ["a name that is too long", edited(narrow, directory(narrow) + 28, 0xff, 0xff), "its directory is cut off"],
    ["a name that is not UTF-8", edited(narrow, directory(narrow) + 46, 0xff), "whose name is not UTF-8"],
    ["sizes that differ", edited(narrow, directory(narrow) + 20, 1), "entry a/data.pkl has two sizes"],
    ["no zip64 field", edited(wide, directory(wide) + 46 + 10, 2), "entry a/data.pkl has no zip64 field"],
    ["compression", edited(narrow, directory(narrow) + 10, 8), "is compressed (entry a/data.pkl)"],
    ["encryption", edited(narrow, directory(narrow) + 8, 1), "is encrypted (entry a/data.pkl)"],
    ["a header beyond the file", edited(narrow, directory(narrow) + 42, ...HUGE), "a/data.pkl lies outside the file"],
    ["a header elsewhere", edited(narrow, directory(narrow) + 42, 1), "entry a/data.pkl has no header"],
    [
      "a size beyond the file",
      edited(narrow, directory(narrow) + 20, ...HUGE, ...HUGE),
      "entry a/data.pkl lies outside the file",
    ],
  ])("refuses %s", (_, bytes, fault) => {
    expect(() => contentsOf(bytes)).toThrow(fault);
  });

  it("refuses two entries of one name", () => {
    const twice = Buffer.from(zipFile({ one: "1", two: "2" }));
    const at = twice.lastIndexOf("two");
    expect(() => contentsOf(edited(Uint8Array.from(twice), at, ...Buffer.from("one")))).toThrow("two entries one");
  });
});
