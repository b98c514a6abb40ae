import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { runs } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { Task } from "../../../artifact/manifest.ts";
import { readGolden } from "./read-golden.ts";

const embed: Task = {
  ...{ task: "embed", pooling: "mean", normalize: true, dimensions: 2 },
  prompts: { query: "query: ", passage: "passage: " },
};
const sparse: Task = { task: "sparse" };
const rows: Task = { task: "token-vectors", dimensions: 2 };
const classify: Task = { task: "classify", input: "text", labels: ["no", "yes"] };
const pairs: Task = { task: "classify", input: "pair", labels: ["relevant"] };

let path: string;
beforeEach(async () => {
  path = join(await temporaryFolder(), "golden.jsonl");
});

async function read(content: string | Uint8Array, task: Task = embed) {
  await writeFile(path, content);
  return readGolden(path, { task, vocabulary: 5 });
}

describe("readGolden", () => {
  it("reads the answers of each task", async () => {
    expect(
      await read(
        '{"id": 7, "text": "to be", "embedding": [0.5, -1e-3]}\r\n\n{"text": "a", "prompt_name": "query", "embedding": [1, 0]}',
      ),
    ).toEqual([
      { line: 1, input: "to be", expected: { kind: "vectors", rows: [Float32Array.of(0.5, -1e-3)] } },
      { line: 3, input: "a", prompt: "query", expected: { kind: "vectors", rows: [Float32Array.of(1, 0)] } },
    ]);
    expect(await read('{"text": "a", "side": "document", "embeddings": [[1, 0], [0, 1]]}', rows)).toMatchObject([
      { side: "document", expected: { rows: [Float32Array.of(1, 0), Float32Array.of(0, 1)] } },
    ]);
    expect(await read('{"text": "a", "sparse": {"indices": [4, 1], "values": [0.5, 2]}}', sparse)).toMatchObject([
      { expected: { rows: [Float32Array.of(0, 2, 0, 0, 0.5)] } },
    ]);
    const scores = [
      ...['{"text": "a", "scores": [0.25, 0.75]}', '{"text": "a", "scores": [{"label": "yes", "score": 0.75}]}'],
      '{"text": "a", "label": "yes"}',
    ];
    expect(await read(scores.join("\n"), classify)).toMatchObject([
      {
        expected: {
          kind: "scores",
          scores: new Map([
            ["no", 0.25],
            ["yes", 0.75],
          ]),
        },
      },
      { expected: { kind: "scores", scores: new Map([["yes", 0.75]]) } },
      { expected: { kind: "label", label: "yes" } },
    ]);
    expect(await read('{"text": "a", "text_pair": "b", "score": -3.5}', pairs)).toMatchObject([
      { input: ["a", "b"], expected: { kind: "score", score: -3.5 } },
    ]);
  });

  it.each<[content: string, task: Task, code: string, message: string]>([
    ["", embed, "data_invalid", "has no lines"],
    ["\n \n", embed, "data_invalid", "has no lines"],
    ['{"text": "a"', embed, "data_invalid", "The line is not JSON."],
    ['{"text": "a", "embedding": [NaN, 1]}', embed, "data_invalid", "It has NaN or Infinity"],
    ["[1, 2]", embed, "data_invalid", "not a JSON object"],
    ['{"text": "a", "vector": [1, 2]}', embed, "data_invalid", 'The key "vector" is unknown'],
    ['{"text": "a"}', embed, "data_invalid", "needs one of `embedding`, and has none of them"],
    ['{"embedding": [1, 2]}', embed, "data_invalid", "There is no `text`."],
    ['{"text": ["a"], "embedding": [1, 2]}', embed, "data_invalid", "`text` is not a string."],
    ['{"text": " ", "embedding": [1, 2]}', embed, "data_invalid", "`text` is empty."],
    [
      '{"text": "a", "embedding": [1, 2, 3]}',
      embed,
      "data_unsuitable",
      "has 3 numbers, but the model's vectors have 2",
    ],
    ['{"text": "a", "embedding": "AAAA"}', embed, "data_invalid", "which is not a list"],
    [
      '{"text": "a", "embedding": [1, null]}',
      embed,
      "data_invalid",
      "`embedding`[1] is null, which is not a finite number",
    ],
    ['{"text": "a", "embedding": [1, 1e999]}', embed, "data_invalid", "is Infinity, which is not a finite number"],
    ['{"text": "a", "embedding": [1, 1e99]}', embed, "data_invalid", "which is too large for float32"],
    ['{"text": "a", "embedding": [0, 0]}', embed, "data_invalid", "has only zeros"],
    ['{"text": "a", "text_pair": "b", "embedding": [1, 2]}', embed, "data_unsuitable", "reads single texts"],
    [
      '{"text": "a", "prompt_name": "qery", "embedding": [1, 2]}',
      embed,
      "data_unsuitable",
      "Its prompts: query, document, passage.",
    ],
    [
      '{"text": "a", "prompt_name": "web", "embeddings": [[1, 2]]}',
      rows,
      "data_unsuitable",
      "Its prompts: query, document.",
    ],
    ['{"text": "a", "side": "left", "embedding": [1, 2]}', embed, "data_invalid", '"query" or "document"'],
    [
      '{"text": "a", "side": "query", "prompt_name": "query", "embedding": [1, 2]}',
      embed,
      "data_invalid",
      "Give only one of them",
    ],
    ['{"text": "a", "score": 1}', embed, "data_unsuitable", "`score` is for models with the task classify"],
    ['{"text": "a", "embeddings": []}', rows, "data_invalid", "has no vectors"],
    ['{"text": "a", "embeddings": [[1, 2], [1]]}', rows, "data_unsuitable", "`embeddings[1]` has 1 numbers"],
    ['{"text": "a", "sparse": [1]}', sparse, "data_invalid", "which is not a list"],
    ['{"text": "a", "sparse": {"indices": [1, 2], "values": [1]}}', sparse, "data_invalid", "2 indices and 1 values"],
    ['{"text": "a", "sparse": {"indices": [5], "values": [1]}}', sparse, "data_unsuitable", "token ids are 0 to 4"],
    ['{"text": "a", "label": "maybe"}', classify, "data_unsuitable", 'no label "maybe". Its labels: no, yes.'],
    ['{"text": "a", "scores": [1]}', classify, "data_unsuitable", "has 1 numbers, but the model has 2 labels"],
    ['{"text": "a", "scores": [{"label": "no"}]}', classify, "data_invalid", "not a finite number"],
    ['{"text": "a", "scores": []}', classify, "data_invalid", "`scores` is empty"],
    ['{"text": "a", "score": 1}', classify, "data_unsuitable", "needs `scores`"],
    ['{"text": "a", "label": "no", "scores": [1, 0]}', classify, "data_invalid", "and has `scores` and `label`"],
    ['{"text": "a", "side": "query", "label": "no"}', classify, "data_unsuitable", "`side` has no meaning"],
    ['{"text": "a", "prompt_name": "query", "label": "no"}', classify, "data_unsuitable", "only their default prompt"],
    ['{"text": "a", "score": 1}', pairs, "data_invalid", "There is no `text_pair`."],
    [
      '{"text": "a", "label": "no"}',
      { task: "tag", labels: ["no"] },
      "data_unsuitable",
      "the task tag take no golden file",
    ],
  ])("refuses %s", async (content, task, code, message) => {
    await expect(read(content, task)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it("names the line and the file", async () => {
    const lines = ['{"text": "a", "embedding": [1, 2]}', "", "{"];
    await expect(read(lines.join("\n"))).rejects.toThrow(`Line 3 of ${path}: The line is not JSON.`);
  });

  it("refuses bytes that are not UTF-8, lines that are too long, and files that cannot be read", async () => {
    await expect(read(Uint8Array.of(34, 255, 34))).rejects.toThrow("The line is not UTF-8.");
    await expect(read(`"${" ".repeat(16 * 2 ** 20)}"`)).rejects.toThrow("The line is longer than");
    const model = { task: embed, vocabulary: 5 };
    await expect(readGolden(`${path}.missing`, model)).rejects.toMatchObject({ code: "data_missing" });
    await expect(readGolden(join(path, ".."), model)).rejects.toMatchObject({ code: "not_a_file" });
  });

  it("reads a damaged file or refuses it with the number of a line", async () => {
    const good =
      '{"text": "to be", "prompt_name": "query", "embedding": [0.5, -1.25e-3]}\n{"text": "é", "embedding": [1, 2]}\n';
    const bytes = new TextEncoder().encode(good);
    const damage = fc.record({
      at: fc.nat(bytes.length - 1),
      drop: fc.nat(12),
      add: fc.oneof(
        fc.uint8Array({ maxLength: 8 }),
        fc
          .constantFrom("NaN", "null", "[", "]", "}", '"', ",", "\n", "{}", "[[]]", "1e400", "\\u")
          .map((text) => new TextEncoder().encode(text)),
      ),
    });
    const property = fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), async (all) => {
      const damaged = all.reduce(
        (content, { at, drop, add }) => Buffer.concat([content.subarray(0, at), add, content.subarray(at + drop)]),
        Buffer.from(bytes),
      );
      try {
        for (const { expected } of await read(damaged)) {
          expect(expected.kind === "vectors" && expected.rows[0]?.every(Number.isFinite)).toBe(true);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(BertEdgeError);
        const { code, message } = error as BertEdgeError;
        expect(code).toMatch(/^data_(invalid|unsuitable)$/);
        expect(message).toMatch(/^Line [1-9]\d* of .*golden\.jsonl: .*\.$|has no lines\.$/s);
      }
    });
    await fc.assert(property, seeded(runs(200, 5_000)));
  });
});
