import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { parseSts, readSts } from "./read-sts.ts";

const parse = (text: string) => parseSts(text, "pairs.tsv");

describe("readSts", () => {
  it("reads STS-B's columns, with quotes and with further columns of sources", () => {
    const line = 'main-news\theadlines\t2015\t0024\t2.500\tHe said "no".\t"Yes," they said\tSource\thttp://example.org';
    expect(parse(`${line}\n`)).toEqual([{ score: 2.5, first: 'He said "no".', second: '"Yes," they said' }]);
  });

  it("reads three columns: score and sentences", () => {
    expect(parse("5\ta\tb\r\n\r\n-0.5\tc\td")).toEqual([
      { score: 5, first: "a", second: "b" },
      { score: -0.5, first: "c", second: "d" },
    ]);
  });

  it.each([
    ["one column", "1\ta\tb\nhello", "Expected 3 columns, or at least 7, instead of 1 at line 2 of pairs.tsv."],
    ["four columns", "x\t1\ta\tb", "Expected 3 columns, or at least 7, instead of 4 at line 1 of pairs.tsv."],
    ["no number", "\n\nhigh\ta\tb", "Expected a number (the score) in column 1 at line 3 of pairs.tsv."],
    ["an empty number", "a\tb\tc\td\t\te\tf", "Expected a number (the score) in column 5 at line 1 of pairs.tsv."],
    ["an empty sentence", "1\ta\t", "Expected sentences in columns 2 and 3 at line 1 of pairs.tsv."],
  ])("names the line that has %s", (_, text, message) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: "data_invalid", message, hint: expect.stringContaining("sts-test.csv") }),
    );
  });

  it("parses any text or refuses it as invalid", () => {
    const field = fc.oneof(fc.string(), fc.constantFrom("1", "2.5", "a sentence", "\t", "\n"));
    const text = fc.oneof(
      fc.string(),
      fc.array(field, { maxLength: 9 }).map((fields) => fields.join("\t")),
    );
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(text, (content) => {
        outcomes.add(refusal(() => parse(content)));
      }),
      seeded(1000),
    );
    expect([...outcomes].sort()).toEqual(["accepted", "data_invalid"]);
  });

  it("reads back every pair that was written", () => {
    const sentence = fc.string({ minLength: 1 }).filter((text) => !/[\t\r\n]/.test(text));
    const score = fc.integer({ min: 0, max: 5000 }).map((n) => n / 1000);
    const pair = fc.record({ score, first: sentence, second: sentence });
    const written = fc.tuple(
      fc.array(pair),
      fc.constantFrom("", "genre\tfile\t2012\t7\t"),
      fc.constantFrom("\n", "\r\n"),
    );
    fc.assert(
      fc.property(written, ([pairs, before, end]) => {
        const lines = pairs.map(({ score, first, second }) => `${before}${score}\t${first}\t${second}${end}`);
        expect(parse(lines.join(""))).toEqual(pairs);
      }),
      seeded(200),
    );
  });

  it("names a file that is missing, empty, a folder or not text", async () => {
    const folder = await temporaryFolder();
    const path = (name: string) => join(folder, name);
    await writeFile(path("empty"), "\n");
    await writeFile(path("latin1"), Uint8Array.of(0x31, 0x09, 0xe9, 0x09, 0xe9));
    await mkdir(path("folder"));
    const cases = [
      ["nowhere", "data_missing", "does not exist"],
      ["empty", "data_invalid", "has no entries"],
      ["latin1", "data_invalid", "is not UTF-8 text"],
      ["folder", "not_a_file", "is a folder, not a file"],
    ] as const;
    for (const [name, code, what] of cases) {
      await expect(readSts(path(name))).rejects.toMatchObject({ code, message: `${path(name)} ${what}.` });
    }
  });
});

describeShared("data/stsb", "STS-B's own files", (folder) => {
  it("are read whole", async () => {
    const [test, dev] = await Promise.all(["sts-test.csv", "sts-dev.csv"].map((file) => readSts(join(folder, file))));
    expect([test?.length, dev?.length]).toEqual([1379, 1500]);
    expect(test?.[0]).toEqual({
      score: 2.5,
      first: "A girl is styling her hair.",
      second: "A girl is brushing her hair.",
    });
    expect(test?.every(({ score }) => score >= 0 && score <= 5)).toBe(true);
  });
});
