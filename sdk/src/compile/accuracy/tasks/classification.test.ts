import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { agreement, parseLabelled, readLabelled, scoreClassification, topLabel } from "./classification.ts";

const labels = ["NEGATIVE", "POSITIVE"];
const parse = (text: string, names: readonly string[] = labels) => parseLabelled(text, "dev.tsv", names);

describe("readLabelled", () => {
  it("accepts indices and names of labels", () => {
    expect(parse('a "film"\t1\nb\t0\r\nc\tPOSITIVE\n').map(({ label }) => label)).toEqual([1, 0, 1]);
    expect(parse('a "film"\t1')).toEqual([{ text: 'a "film"', label: 1 }]);
  });

  it("treats numbers as names when the names are numbers, such as stars from 1 to 3", () => {
    const stars = ["1", "2", "3"];
    expect(parse("a\t3\nb\t1", stars).map(({ label }) => label)).toEqual([2, 0]);
    expect(() => parse("a\t0", stars)).toThrow("Expected a label after the tab (one of 1, 2, 3) at line 1 of dev.tsv.");
  });

  it.each([
    [
      "an index beyond the labels",
      "a\t2",
      "Expected a label after the tab (0 to 1, or one of NEGATIVE, POSITIVE) at line 1",
    ],
    ["a negative index", "a\t-1", "Expected a label after the tab"],
    ["an unknown name", "a\t1\nb\tpositive", "one of NEGATIVE, POSITIVE) at line 2 of dev.tsv."],
    ["no label", "a", "Expected a text, a tab and a label, not 1 columns at line 1 of dev.tsv."],
    ["a further column", "a\tb\t1", "Expected a text, a tab and a label, not 3 columns at line 1 of dev.tsv."],
    ["no text", "\t1", "Expected a text before the tab at line 1 of dev.tsv."],
  ])("names the line that has %s", (_, text, message) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: "data_invalid", message: expect.stringContaining(message) }),
    );
  });

  it("parses any text or refuses it as invalid", () => {
    const field = fc.oneof(fc.string(), fc.constantFrom("0", "1", "NEGATIVE", "__proto__", "\n"));
    const text = fc.oneof(
      fc.string(),
      fc.array(field, { maxLength: 3 }).map((fields) => fields.join("\t")),
    );
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(text, fc.array(fc.string(), { maxLength: 3 }), (content, further) => {
        outcomes.add(refusal(() => parse(content, [...labels, ...further])));
      }),
      seeded(1000),
    );
    expect([...outcomes].sort()).toEqual(["accepted", "data_invalid"]);
  });

  it("names the missing file", async () => {
    const path = join(await temporaryFolder(), "dev.tsv");
    await expect(readLabelled(path, labels)).rejects.toMatchObject({
      code: "data_missing",
      message: `${path} does not exist.`,
    });
  });
});

describeShared("data/sst2", "SST-2's files", (folder) => {
  it("are read whole", async () => {
    // The last line of both files has no line break.
    expect(await readLabelled(join(folder, "dev.tsv"), labels)).toHaveLength(872);
    expect(await readLabelled(join(folder, "test.tsv"), labels)).toHaveLength(1821);
  });
});

it("returns the percentage of texts whose largest logit is at the true label", async () => {
  const classify = async (texts: readonly string[]) => texts.map((text) => Float32Array.of(2 - text.length, 0, -9));
  const texts = [
    { text: "a", label: 0 },
    { text: "abc", label: 1 },
    { text: "a", label: 0 },
    { text: "abcd", label: 2 },
  ];
  expect(await scoreClassification(texts, classify)).toBe(75);
});

it("returns the index of the largest logit, and the first of equal ones", () => {
  expect([[-3, -1, -2], [0], [4, 1, 4], [1, 2, 3]].map((logits) => topLabel(Float32Array.from(logits)))).toEqual([
    1, 0, 0, 2,
  ]);
});

it("returns the percentage of positions with equal labels", () => {
  expect(agreement([1, 0, 2, 1], [1, 1, 2, 0])).toBe(50);
  expect(agreement([1, 0], [1, 0])).toBe(100);
  expect(agreement([], [])).toBeNaN();
  expect(() => agreement([1], [1, 0])).toThrow(RangeError);
});
