import { appendFile, readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { checkedGolden as checked, writtenCase as written } from "#test/fixtures/checked-golden.ts";

// More folders that are read rightly and wrongly are in check-golden.long.test.ts.
describe("checkGolden", () => {
  it("refuses pairs whose texts changed places", async () => {
    const pairs = await written("rerank");
    const swapped = pairs.lines.map((line) => {
      const { text, text_pair, score } = JSON.parse(line) as Record<string, unknown>;
      return JSON.stringify({ text: text_pair, text_pair: text, score });
    });
    await writeFile(pairs.golden, swapped.join("\n"));
    await expect(checked(pairs)).rejects.toMatchObject({ hint: expect.stringContaining("change places") });
  });

  it("shows the worst line, shortened", async () => {
    const wrong = await written("embed", { "1_Pooling/config.json": { pooling_mode: "max" } });
    await expect(checked(wrong)).rejects.toThrow(
      /golden\.jsonl: 12 of 12 lines differ from the float32 model in .*my-model\. Worst: line \d+, "[^"]{1,61}": cosine 0\.\d{5} \(must be at least 0\.9999\)\./,
    );
  });

  it("has another limit for a system that is quantized, and names it where it could help", async () => {
    const { golden, ...model } = await written("embed");
    const [first = ""] = model.lines;
    const { embedding, ...line } = JSON.parse(first) as { embedding: number[] };
    const coarse = embedding.map((value) => Math.round(value * 16) / 16);
    await writeFile(golden, JSON.stringify({ ...line, embedding: coarse }));
    await expect(checked({ ...model, golden })).rejects.toMatchObject({
      hint: expect.stringContaining("--golden-min 0.99"),
    });
    expect((await checked({ ...model, golden }, 0.99)).agreement.worst).toMatchObject({ line: 1 });
  });
});

describe("what a golden file does not show", () => {
  it("is a long text, and the prompts that no line has", async () => {
    const whole = await written("embed");
    expect((await checked(whole)).gaps).toEqual({});
    await writeFile(
      whole.golden,
      whole.lines.filter((line) => !line.includes("before") && !line.includes('"passage"')).join("\n"),
    );
    expect((await checked(whole)).gaps).toEqual({
      length: expect.stringContaining("has no text of more than 32 tokens"),
      prompts: expect.stringContaining('has no line with the prompt "passage".'),
    });
  });

  it("counts a side as the prompt that it chooses, and the default prompt as used", async () => {
    const whole = await written("embed");
    const lines = whole.lines.map((line) => line.replace('"prompt_name": "query"', '"side": "query"'));
    await writeFile(whole.golden, lines.join("\n"));
    expect((await checked(whole)).gaps).toEqual({});
    expect((await checked(await written("embed, default prompt"))).gaps).toEqual({});
  });
});

describe("the golden texts of the artifact", () => {
  it("are lines that no server cuts, with their prompts and the vectors of the float32 model", async () => {
    const whole = await written("embed");
    const { texts } = await checked(whole);
    expect(texts?.texts).toEqual([
      ...["Anna works for ACME Corp.", "where does she live?", "a tower in tokyo", "ok"],
      "anna maria works for acme corp in new york and she does not live in tokyo where dancing and cooking is the example",
      ...["ask for the example: Anna works for ACME Corp.", "ask for the example: where does she live?"],
      ...["ask for the example: a tower in tokyo", "the line: Anna works for ACME Corp."],
      ...["the line: where does she live?", "the line: a tower in tokyo"],
    ]);
    const expected = JSON.parse(whole.lines[3] ?? "") as { embedding: number[] };
    texts?.vectors[3]?.forEach((value, i) => {
      expect(value).toBeCloseTo(expected.embedding[i] ?? Number.NaN, 5);
    });
  });

  it("have no prompts that the model leaves out of the pooling", async () => {
    const { texts } = await checked(await written("embed, prompt not pooled"));
    expect(texts?.texts.slice(0, 2)).toEqual(["Anna works for ACME Corp.", "where does she live?"]);
    expect(texts?.texts.filter((text) => text.includes(": "))).toEqual([]);
  });

  it("are at most 16, from the whole file; models that do not embed have none", async () => {
    const whole = await written("embed");
    const [first = ""] = whole.lines;
    const { text: _, ...answer } = JSON.parse(first) as { text: string };
    for (let i = 0; i < 1; i++) await appendFile(whole.golden, await readFile(whole.golden));
    await appendFile(whole.golden, JSON.stringify({ ...answer, text: "anna works for acme corp." }));
    const { texts } = await checked(whole);
    expect(texts?.texts).toHaveLength(16);
    expect((await checked(await written("classify"))).texts).toBeUndefined();
  });
});
