import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BertEdgeError } from "../../../artifact/error.ts";
import { encodeBytes } from "../../contract/vector-text.ts";
import type { ExpectedAnswer } from "../expected-answer.ts";
import { bertEdgeDialect } from "./bert-edge.ts";
import { type RegionDialect, reportWithin } from "./dialect.ts";
import { openAiDialect } from "./openai.ts";
import { teiDialect } from "./tei.ts";
import { workersAiDialect } from "./workers-ai.ts";

const VECTORS = [
  [0.6, 0.8],
  [1, 0],
];
const base64 = VECTORS.map((vector) => encodeBytes(Float32Array.from(vector)));
const expected: ExpectedAnswer = {
  ...{ model: "tiny", version: "0123456789ab", lengths: [2, 2], norm: "one" },
  ...{ tokens: 8, maxTokens: 16, computeMs: 0 },
};

/** Dialects, each with a good answer. */
const dialects: Record<string, [RegionDialect, unknown]> = {
  "bert-edge": [bertEdgeDialect, { model: "tiny", version: "0123456789ab", outputs: base64, usage: { tokens: 8 } }],
  tei: [teiDialect, VECTORS],
  openai: [openAiDialect("m"), { data: base64.map((embedding, index) => ({ index, embedding })) }],
  "workers-ai": [workersAiDialect("mean"), { shape: [2, 2], data: VECTORS }],
};

/** Reads an answer that may be anything. Either it is good, or it is refused as `region_failed`. */
function expectGoodOrRefused({ readAnswer }: RegionDialect, body: string): void {
  try {
    const { outputs } = readAnswer(body, expected);
    expect(outputs).toHaveLength(VECTORS.length);
    for (const vector of outputs) expect(Math.hypot(...vector)).toBeCloseTo(1, 2);
  } catch (error) {
    expect(error).toBeInstanceOf(BertEdgeError);
    expect(error).toMatchObject({ code: "region_failed", hint: expect.any(String) });
  }
}

describe.each(Object.entries(dialects))("the dialect %s", (_, [dialect, good]) => {
  it("reads a good answer", () => {
    const { outputs, tokens, version } = dialect.readAnswer(JSON.stringify(good), expected);
    expect(outputs.map((vector) => [...vector])).toEqual(VECTORS.map((vector) => [...Float32Array.from(vector)]));
    expect({ tokens, version }).toEqual({ tokens: 8, version: expected.version });
  });

  it("has room for its largest answer", () => {
    const widest = -Math.PI * 1e-300;
    const numbers = JSON.stringify(Array.from({ length: 3 }, () => Array(384).fill(widest)));
    const texts = dialect.foreign ? numbers : JSON.stringify(Array(3).fill(encodeBytes(new Float32Array(384))));
    expect(texts.length).toBeLessThan(dialect.maxAnswerBytes([384, 384, 384]));
  });

  it("refuses any other JSON", () => {
    const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(json, (body) => expectGoodOrRefused(dialect, body)),
      { seed: 18, numRuns: 300 },
    );
  });

  it("refuses damaged answers", () => {
    const text = JSON.stringify(good);
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.nat(text.length), fc.string({ maxLength: 3 }), (at, end, piece) => {
        expectGoodOrRefused(dialect, text.slice(0, at) + piece + text.slice(end));
      }),
      { seed: 18, numRuns: 1_000 },
    );
  });

  it("reads faults and reports of any form without an error", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.double(), (json, number) => {
        const fault = dialect.faultOf(json, 2);
        if (fault !== undefined) expect(fault).toBeInstanceOf(BertEdgeError);
        const times = {
          "x-total-time": `${number}`,
          "x-inference-time": `${number}`,
          "server-timing": `compute;dur=${number}`,
        };
        const report = dialect.readReport(new Headers(times));
        for (const ms of Object.values(report ? reportWithin(20, report) : {})) {
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThanOrEqual(20);
        }
      }),
      { seed: 18, numRuns: 300 },
    );
  });
});
