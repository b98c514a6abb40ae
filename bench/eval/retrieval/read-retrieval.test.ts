import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { parseRelevance, parseTexts, readRetrieval } from "./read-retrieval.ts";

const corpus = [
  { _id: "d1", title: "Tides", text: "The moon moves the sea.", metadata: {} },
  { _id: "d2", title: "", text: "Bread needs time." },
  { _id: "d3", text: "Untitled." },
];
const jsonLines = (entries: readonly object[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
const files = {
  "corpus.jsonl": jsonLines(corpus),
  "queries.jsonl": jsonLines([
    { _id: "q1", text: "moon" },
    { _id: "q2", text: "bread" },
  ]),
  "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td3\t0\n",
};

async function write(change: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "qrels"));
  for (const [name, content] of Object.entries({ ...files, ...change })) {
    if (content !== undefined) await writeFile(join(folder, name), content);
  }
  return folder;
}

describe("readRetrieval", () => {
  it("reads documents with their titles, queries, and judged relevances", async () => {
    expect(await readRetrieval(await write())).toEqual({
      documents: new Map([
        ["d1", "Tides The moon moves the sea."],
        ["d2", "Bread needs time."],
        ["d3", "Untitled."],
      ]),
      queries: new Map([
        ["q1", "moon"],
        ["q2", "bread"],
      ]),
      relevance: new Map([
        [
          "q1",
          new Map([
            ["d1", 2],
            ["d3", 0],
          ]),
        ],
      ]),
    });
  });

  it.each(Object.keys(files))("names a missing %s, and says what to give", async (file) => {
    const folder = await write({ [file]: undefined });
    await expect(readRetrieval(folder)).rejects.toMatchObject({
      code: "data_missing",
      message: `${join(folder, file)} does not exist.`,
      hint: expect.stringContaining("BEIR"),
    });
  });

  const header = "query-id\tcorpus-id\tscore\n";
  it.each([
    ["corpus.jsonl", "", "has no entries"],
    ["corpus.jsonl", `${JSON.stringify(corpus[0])}\n{"_id": "d2"`, "The line 2 of %s is not JSON."],
    ["corpus.jsonl", '{"_id": 7, "text": "a"}', "The line 1 of %s is not valid at _id"],
    ["queries.jsonl", '{"_id": "q1", "title": "moon"}', "The line 1 of %s is not valid at text"],
    [
      "corpus.jsonl",
      jsonLines([...corpus, { _id: "d1", text: "again" }]),
      "Expected a new id instead of the repeated id d1 at line 4 of %s.",
    ],
    ["qrels/test.tsv", "q1\td1\t1\n", "Expected the tab-separated header query-id, corpus-id, score at line 1 of %s."],
    ["qrels/test.tsv", header, "has no entries"],
    ["qrels/test.tsv", `${header}q1\td1\n`, "a whole number, separated by tabs, at line 2 of %s."],
    ["qrels/test.tsv", `${header}q1\td1\t0.5\n`, "a whole number, separated by tabs, at line 2 of %s."],
    ["qrels/test.tsv", `${header}q1\td1\t1\tQ0\n`, "a whole number, separated by tabs, at line 2 of %s."],
    [
      "qrels/test.tsv",
      `${header}q9\td1\t1\n`,
      "Expected the id of a query in queries.jsonl instead of q9 at line 2 of %s.",
    ],
    [
      "qrels/test.tsv",
      `${header}q1\td9\t1\n`,
      "Expected the id of a document in corpus.jsonl instead of d9 at line 2 of %s.",
    ],
    [
      "qrels/test.tsv",
      `${header}q1\td1\t1\nq1\td1\t0\n`,
      "Expected a new id instead of the repeated id d1 at line 3 of %s.",
    ],
  ])("says what is wrong with %s holding %j", async (file, content, message) => {
    const folder = await write({ [file]: content });
    await expect(readRetrieval(folder)).rejects.toMatchObject({
      code: "data_invalid",
      message: expect.stringContaining(message.replace("%s", join(folder, file))),
    });
  });

  it("parses any text or refuses it as invalid", () => {
    const id = fc.constantFrom("d1", "d2", "__proto__");
    const text = fc.oneof(fc.string(), fc.jsonValue());
    const entry = fc.record({ _id: id, title: text, text }, { requiredKeys: ["_id"] });
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      entry.map((value) => JSON.stringify(value)),
    );
    const field = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom("q1", "d1", "1", "0"));
    const judgement = fc.tuple(field, field, field).map((fields) => fields.join("\t"));
    const outcomes = new Set<string>();
    const [documents, queries] = [new Map([["d1", ""]]), new Map([["q1", ""]])];
    fc.assert(
      fc.property(fc.array(line, { maxLength: 2 }), fc.array(judgement, { maxLength: 2 }), (texts, judgements) => {
        outcomes.add(`texts ${refusal(() => parseTexts(texts.join("\n"), "corpus.jsonl"))}`);
        const table = header + judgements.join("\n");
        outcomes.add(`relevance ${refusal(() => parseRelevance(table, "test.tsv", documents, queries))}`);
      }),
      seeded(1000),
    );
    const each = ["accepted", "data_invalid"];
    expect([...outcomes].sort()).toEqual(
      ["relevance", "texts"].flatMap((what) => each.map((code) => `${what} ${code}`)),
    );
  });
});

describeShared("data/scifact", "SciFact", (folder) => {
  it("is read whole", async () => {
    const { documents, queries, relevance } = await readRetrieval(folder);
    expect([documents.size, queries.size, relevance.size]).toEqual([5183, 300, 300]);
    expect([...relevance.values()].reduce((sum, { size }) => sum + size, 0)).toBe(339);
  });
});
