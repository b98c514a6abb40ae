import { describe, expect, it, vi } from "vitest";
import { BertEdgeError } from "../artifact/error.ts";
import { decodeFloats } from "../serve/contract/vector-text.ts";
import { type ChunkModel, embedChunk } from "./embed-chunk.ts";
import { lineSplitter } from "./line-splitter.ts";

const linesOf = (content: string) => {
  const splitter = lineSplitter();
  return [...splitter.push(new TextEncoder().encode(content)), ...splitter.end()];
};
const parsed = (lines: string) =>
  lines
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown);

/** A model whose tokens are characters. A text with "NaN" has no vector. */
function lettersModel(): ChunkModel & { embed: ReturnType<typeof vi.fn<ChunkModel["embed"]>> } {
  const embed = vi.fn<ChunkModel["embed"]>(async (texts) => {
    if (texts.some((text) => text.includes("NaN"))) throw new BertEdgeError("vector_invalid", "It computed NaN.");
    return texts.map((text) => Float32Array.of(text.length, 0.1));
  });
  return { name: "letters", maxTokens: 5, countTokens: (text) => text.length, embed };
}

const options = { encodingFormat: "float", truncate: false } as const;

describe("embedChunk", () => {
  it("writes a line for each record in order, equal texts included", async () => {
    const { results, rejected, counts } = await embedChunk(
      linesOf('"ab"\n{"id":"x","text":"ab"}\n\n"c"\n'),
      lettersModel(),
      options,
    );
    expect(parsed(results)).toEqual(
      [
        { line: 1, embedding: [2, 0.1] },
        { line: 2, id: "x", embedding: [2, 0.1] },
        { line: 4, embedding: [1, 0.1] },
      ].map((record) => ({
        ...record,
        embedding: record.embedding.map((value) => Number(Math.fround(value).toPrecision(9))),
      })),
    );
    expect(rejected).toBe("");
    expect(counts).toEqual({ lines: 4, records: 3, embedded: 3, truncated: 0, rejected: 0 });
  });

  it("encodes vectors as base64", async () => {
    const { results } = await embedChunk(linesOf('"ab"'), lettersModel(), { ...options, encodingFormat: "base64" });
    const [record] = parsed(results) as { embedding: string }[];
    expect(decodeFloats(record?.embedding ?? "")).toEqual(Float32Array.of(2, 0.1));
  });

  it("sets aside records without a text, with too long a text, and with a NaN vector", async () => {
    const model = lettersModel();
    const lines = linesOf('"ab"\n{"id":1}\n{"id":2,"text":"abcdef"}\n{"id":3,"text":"NaN"}\n"c"');
    const { results, rejected, counts } = await embedChunk(lines, model, options);
    expect(parsed(results)).toMatchObject([{ line: 1 }, { line: 5 }]);
    expect(parsed(rejected)).toEqual([
      { line: 2, id: 1, code: "record_invalid", reason: "There is no `text`." },
      {
        line: 3,
        id: 2,
        code: "input_too_long",
        reason: "The text has at least 6 tokens, but letters accepts at most 5.",
      },
      { line: 4, id: 3, code: "vector_invalid", reason: "It computed NaN." },
    ]);
    expect(counts).toEqual({ lines: 5, records: 5, embedded: 2, truncated: 0, rejected: 3 });
    expect(model.embed.mock.calls).toEqual([[["ab", "NaN", "c"]], [["ab"]], [["NaN"]], [["c"]]]);
  });

  it("cuts texts that are too long if it may, and counts those that got a vector", async () => {
    const lines = linesOf('"abcdef"\n"NaN too long"\n"a"');
    const { counts } = await embedChunk(lines, lettersModel(), { ...options, truncate: true });
    expect(counts).toEqual({ lines: 3, records: 3, embedded: 2, truncated: 1, rejected: 1 });
  });

  it("calls no model for a chunk without records", async () => {
    const model = lettersModel();
    expect((await embedChunk(linesOf("\n\n"), model, options)).counts).toMatchObject({ lines: 2, records: 0 });
    expect(model.embed).not.toHaveBeenCalled();
  });

  it("stops at errors that do not concern a record", async () => {
    const error = new BertEdgeError("engine_failed", "It broke.");
    const model = { ...lettersModel(), embed: () => Promise.reject(error) };
    await expect(embedChunk(linesOf('"a"\n"b"'), model, options)).rejects.toBe(error);
  });
});
