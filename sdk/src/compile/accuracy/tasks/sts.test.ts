import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { parseSts, readSts, scoreSts, spearman } from "./sts.ts";

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

/** Angles of the vectors. The cosine of two vectors falls with the difference of their angles. */
const angles: Readonly<Record<string, number>> = { a: 0, b: 0.1, c: 0.7, d: 1.5 };
const embed = async (texts: readonly string[]) =>
  texts.map((text, i) => {
    const angle = angles[text] as number;
    return Float32Array.of((i + 1) * Math.cos(angle), (i + 1) * Math.sin(angle));
  });
const pair = (score: number, first: string, second: string) => ({ score, first, second });

it("returns 100 when cosines rise with the scores, and -100 when they fall", async () => {
  expect(await scoreSts([pair(1, "a", "d"), pair(3, "c", "a"), pair(5, "a", "b")], embed)).toBeCloseTo(100, 10);
  expect(await scoreSts([pair(5, "a", "d"), pair(3, "c", "a"), pair(1, "a", "b")], embed)).toBeCloseTo(-100, 10);
});

it("returns the rank correlation × 100 for other orders", async () => {
  const pairs = [pair(1, "a", "c"), pair(2, "a", "d"), pair(3, "b", "c"), pair(4, "a", "b")];
  // The ranks of the cosines are 2, 1, 3, 4. Correlation: 1 - 6 · 2 / (4 · 15).
  expect(await scoreSts(pairs, embed)).toBeCloseTo(80, 10);
});

const few = fc.integer({ min: -3, max: 3 });
const pairs = fc.array(fc.tuple(few, few), { minLength: 2, maxLength: 12 });
const columns = (rows: readonly (readonly [number, number])[]) =>
  [rows.map(([a]) => a), rows.map(([, b]) => b)] as const;

describe("spearman", () => {
  it.each([
    [[106, 100, 86, 101, 99, 103, 97, 113, 112, 110], [7, 27, 2, 50, 28, 29, 20, 12, 6, 17], -0.17575757575757575],
    [[1, 2, 2, 3, 5, 5, 5, 0], [2, 1, 4, 4, 3, 9, 7, 7], 0.31682519336239684],
  ])("returns the value of scipy.stats.spearmanr for %j", (a, b, expected) => {
    expect(spearman(a, b)).toBeCloseTo(expected, 14);
  });

  it("equals the correlation of ranks that are counted directly", () => {
    fc.assert(
      fc.property(pairs, (rows) => {
        const [a, b] = columns(rows);
        const rank = (values: readonly number[]) =>
          values.map((x) => values.filter((y) => y < x).length + values.filter((y) => y === x).length / 2);
        const [p, q] = [rank(a), rank(b)];
        const n = rows.length;
        const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
        const product = (x: readonly number[], y: readonly number[]) =>
          n * sum(x.map((value, i) => value * (y[i] as number))) - sum(x) * sum(y);
        const expected = product(p, q) / Math.sqrt(product(p, p) * product(q, q));
        if (Number.isNaN(expected)) expect(spearman(a, b)).toBeNaN();
        else expect(spearman(a, b)).toBeCloseTo(expected, 12);
      }),
      seeded(500),
    );
  });

  it("depends only on the order: a rising function keeps the value, a falling one changes its sign", () => {
    fc.assert(
      fc.property(pairs, (rows) => {
        const [a, b] = columns(rows);
        const before = spearman(a, b);
        fc.pre(!Number.isNaN(before));
        expect(spearman(a.map(Math.exp), b)).toEqual(before);
        expect(spearman(b, a)).toEqual(before);
        expect(
          spearman(
            a,
            b.map((value) => 7 - value),
          ),
        ).toBeCloseTo(-before, 12);
      }),
      seeded(200),
    );
  });

  it("orders infinite values", () => {
    expect(spearman([-Infinity, 0, Infinity, Infinity], [1, 2, 3, 3])).toBeCloseTo(1, 12);
  });

  it.each([
    ["all values are equal", [1, 1, 1], [1, 2, 3]],
    ["one is NaN", [1, 2, 3], [1, Number.NaN, 3]],
    ["there are none", [], []],
  ])("returns NaN when %s", (_, a, b) => {
    expect(spearman(a, b)).toBeNaN();
  });

  it("refuses lists of different lengths", () => {
    expect(() => spearman([1, 2], [1])).toThrow(RangeError);
  });
});
