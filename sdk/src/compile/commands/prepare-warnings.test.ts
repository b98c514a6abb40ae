import { describe, expect, it } from "vitest";
import { sampleManifest, sampleReport } from "#test/fixtures/sample-report.ts";
import type { TextModel } from "../model/text-model.ts";
import { warningsOf } from "./prepare-warnings.ts";

const model = {
  config: { modelType: "bert", maxPositions: 256, positionPaddingId: undefined },
  maxTokens: 256,
  assumed: [],
  unknown: [],
  unused: [],
} as unknown as TextModel;

const input = { model, manifest: sampleManifest, excused: [], fit: sampleReport.fit };

const codesOf = (warnings: ReturnType<typeof warningsOf>) => warnings.map(({ code }) => code);

describe("warningsOf", () => {
  it("returns nothing for a model that is fused completely and used as it is described", () => {
    expect(warningsOf(input)).toEqual([]);
  });

  it("says what was assumed", () => {
    expect(warningsOf({ ...input, model: { ...model, assumed: ["There is no modules.json."] } })).toEqual([
      { code: "assumed", message: "There is no modules.json." },
    ]);
  });

  it("names keys that nothing reads", () => {
    const unknown = [{ file: "config.json", keys: ["a_key", "another"] }];
    const [warning] = warningsOf({ ...input, model: { ...model, unknown } });
    expect(warning?.code).toBe("keys_unknown");
    expect(warning?.message).toContain("config.json has keys that bert-edge does not know");
    expect(warning?.message).toContain("a_key, another");
  });

  it("names keys that were accepted", () => {
    const [warning] = warningsOf({ ...input, manifest: { ...sampleManifest, acceptedKeys: ["1_Pooling.mood"] } });
    expect(warning).toMatchObject({ code: "keys_accepted", message: expect.stringContaining("1_Pooling.mood") });
  });

  it("names tensors that are not used, and the tasks that use them", () => {
    const message = (...unused: string[]) => warningsOf({ ...input, model: { ...model, unused } })[0]?.message;
    expect(message("linear.bias", "x")).toBe("The weights have tensors that are not used: linear.bias, x.");
    expect(message("classifier.bias", "classifier.weight")).toBe(
      "The weights have tensors that are not used: classifier.bias, classifier.weight. --task classify or tag uses them.",
    );
    const many = Array.from({ length: 20 }, (_, i) => `layer.${i}`);
    expect(message(...many)).toMatch(/: layer\.0, .*, layer\.11 and 8 more\.$/);
  });

  it("says where texts are cut before the model's last position", () => {
    const [warning] = warningsOf({ ...input, model: { ...model, maxTokens: 128 } });
    expect(warning).toMatchObject({
      code: "length_limited",
      message: expect.stringContaining("128 tokens, but the model has 256"),
    });
  });

  it("says where queries and documents are cut", () => {
    const protocol = { query: { length: 32 }, document: { length: 128, skipped: [] } };
    const manifest = { ...sampleManifest, task: "token-vectors", dimensions: 8, protocol } as typeof sampleManifest;
    const [warning] = warningsOf({ ...input, manifest, model: { ...model, maxTokens: 128 } });
    expect(warning?.message).toBe(
      "Queries are cut at 32 tokens, and documents at 128, but the model has 256 positions.",
    );
  });

  it("names excused parts, layers in a higher precision, and a tokenizer without a packed form", () => {
    const { edge } = sampleManifest.targets;
    const manifest = {
      ...sampleManifest,
      tokenizer: { kind: "json", json: "t", config: "c" },
      targets: { edge: { ...edge, kept: ["MatMul_3", "MatMul_5"] } },
    } as unknown as typeof sampleManifest;
    const excused = [{ pattern: "Attention", nodes: ["Softmax_1", "Softmax_2"], why: "it is sparse" }];
    const warnings = warningsOf({ ...input, manifest, excused });
    expect(codesOf(warnings)).toEqual(["part_excused", "layers_kept", "tokenizer_json"]);
    expect(warnings[0]?.message).toBe("2 × Attention is not fused, first at Softmax_1: it is sparse.");
    expect(warnings[1]?.message).toBe("edge: 2 layers stay in a higher precision: MatMul_3, MatMul_5.");
  });

  it("names the length at which a target is inaccurate", () => {
    const { edge } = sampleManifest.targets;
    const withLengths = (meanCosine: number) => ({
      ...sampleManifest,
      targets: {
        edge: {
          ...edge,
          parity: {
            ...edge?.parity,
            lengths: [
              { tokens: 16, meanCosine: 0.999 },
              { tokens: 256, meanCosine },
            ],
          },
        },
      },
    });
    const warnings = (meanCosine: number) =>
      warningsOf({ ...input, manifest: withLengths(meanCosine) as unknown as typeof sampleManifest });
    expect(warnings(0.9899)).toEqual([
      {
        code: "length_inaccurate",
        message:
          "edge: texts of 256 tokens have a mean cosine of 0.9899 with float32. Send shorter texts, or choose another precision.",
      },
    ]);
    expect(warnings(0.99)).toEqual([]);
  });

  it.each([
    [0.84, []],
    [0.86, ["memory_tight"]],
    [1.01, ["edge_too_large"]],
  ])("with %d of an isolate's memory, warns of %j", (share, codes) => {
    const platforms = sampleReport.fit.platforms.map((platform) => ({
      ...platform,
      fits: share <= 1,
      limits: [{ limit: "memory", used: share * 1000, allowed: 1000 } as const],
    }));
    expect(codesOf(warningsOf({ ...input, fit: { tokens: 128, platforms } }))).toEqual(codes);
  });
});
