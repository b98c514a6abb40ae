import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { defaultLimits } from "#sdk/serve/limits.ts";
import { defaultTokenizerJson, packed } from "../fixtures/packed-tokenizers.ts";
import { byteLevelJson, unigramJson } from "../fixtures/tokenizer-kinds.ts";
import { codeOf, MAX_CPU_MS, post } from "./attacked-edge.ts";

const kinds = { WordPiece: defaultTokenizerJson, "byte-level": byteLevelJson, Unigram: unigramJson };
/** Above the ids of all three. */
const VOCABULARY = 50_000;
const MAX_TOKENS = 64;

// The edge logs each request.
beforeEach(() => void vi.spyOn(console, "log").mockReturnValue(undefined));
afterEach(() => void vi.restoreAllMocks());

describe("oversized and deeply nested JSON", () => {
  it.each([
    ["objects", '{"a":', "}"],
    ["lists", "[", "]"],
  ])("is refused: 400,000 nested %s", async (_, open, close) => {
    const depth = 400_000;
    const response = await post(`{"inputs":${open.repeat(depth)}1${close.repeat(depth)}}`);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
  });

  it("is refused when it is too large, with and without a declared length", async () => {
    const body = `{"inputs":["${"a".repeat(defaultLimits.maxBodyBytes)}"]}`;
    expect((await post(body)).status).toBe(413);
    expect((await post(body, { "content-length": `${body.length}` })).status).toBe(413);
  });

  it("is refused with more texts than the limit", async () => {
    expect(await codeOf(await post(JSON.stringify({ inputs: Array(100_000).fill("a") })))).toBe("too_many_inputs");
  });
});

describe("lists of 700,000 items", () => {
  it.each([
    ["null", "/v1/embed", "too_many_inputs"],
    ["{}", "/v1/embed", "too_many_inputs"],
    ["[]", "/v1/embed", "too_many_inputs"],
    ["[]", "/decode", "Validation"],
    ["1", "/v1/embed", "request_invalid"],
    ["-1", "/v1/embed", "request_invalid"],
  ])("are refused before their items are read: %s, %s", async (item, path, code) => {
    const list = `[${`${item},`.repeat(700_000)}${item}]`;
    const start = process.threadCpuUsage();
    const response = await post(`{"${path === "/decode" ? "ids" : "inputs"}":${list}}`, {}, path);
    expect(process.threadCpuUsage(start).user / 1000).toBeLessThan(MAX_CPU_MS);
    expect(response.status).toBeLessThan(500);
    const body = (await response.json()) as { error: { code: string }; error_type?: string };
    expect(body.error_type ?? body.error.code).toBe(code);
  });
});

/** Work that is quadratic in a text of a request takes longer. */
const TIMEOUT_MS = 20_000;

describe("texts and headers that make regular expressions slow", { timeout: TIMEOUT_MS }, () => {
  const units = [" ", "\t", "-", "a", "a ", "\u0301", "#", "[", "[MASK", "0", "\u00df", "!?", "http://a.a/", "日"];
  const repeated = (unit: string, length: number) => `${unit.repeat(length / unit.length)}x`;

  it.each(units)("%j, repeated", async (unit) => {
    const response = await post(JSON.stringify({ inputs: [repeated(unit, 200_000)], truncate: true }));
    expect(response.status).toBe(200);
  });

  describe.each(Object.entries(kinds))("for %s, read to the end", (_, json) => {
    const tokenizer = createPackedTokenizer(packed(json()), VOCABULARY);
    it.each([...units, "<", "<mask", "\u2581", "\u00a0", "é", "'s", "\ud800", "한"])("%j", (unit) => {
      const text = repeated(unit, 100_000);
      const start = process.threadCpuUsage();
      const { ids } = tokenizer.encode(text, MAX_TOKENS, "left");
      expect(tokenizer.encodePlaced(text, MAX_TOKENS, "left").ids).toEqual(ids);
      expect(process.threadCpuUsage(start).user / 1000).toBeLessThan(MAX_CPU_MS);
    });
  });

  it.each([
    "authorization",
    "x-request-id",
    "traceparent",
    "grpc-timeout",
    "x-latency-budget-ms",
    "x-bert-edge-report",
    "content-type",
  ])("the header %s", async (name) => {
    for (const value of [
      "Bearer ".repeat(3_000),
      "0".repeat(20_000),
      `${"a;".repeat(9_000)}`,
      `${" ".repeat(20_000)}x`,
    ]) {
      expect((await post('{"inputs":["a"]}', { [name]: value })).status).toBeLessThan(500);
    }
  });
});
