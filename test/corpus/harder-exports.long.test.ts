import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { judgeParity, modelParity } from "#sdk/compile/accuracy/model-parity.ts";
import { arithmeticOf } from "#sdk/compile/accuracy/output-tolerance.ts";
import { unfusedParts } from "#sdk/compile/fusions/unfused-parts.ts";
import { fromOnnx } from "#sdk/compile/onnx/from-onnx.ts";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import type { Claim } from "../fixtures/export-case.ts";
import { paddedBatches } from "../fixtures/padded-batches.ts";
import { describeShared } from "../fixtures/shared.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { shareOfTolerance } from "../oracles/agreement.ts";
import { fusedCounts, optimized, rewritings, runModel } from "../oracles/run-model.ts";
import { casesIn, meets } from "./exported-model.ts";

/** The case.json of a harder export: what its architecture has, or the exact counts of fused operators. */
interface HarderCase {
  readonly layers?: number;
  readonly layer_norms?: number;
  readonly gelus?: number;
  readonly embeddings?: number;
  readonly expected_fused?: Claim;
  /** Open axes: `b` for the batch, `s` for the sequence. */
  readonly dynamic?: string;
  readonly static_batch?: number;
  readonly static_sequence?: number;
  /** "complete", or what is excused and why. */
  readonly expect: string;
}

/** Parts that cannot be fused although the rest of a case can, and why. */
const excused: Readonly<Record<string, { readonly parts: readonly (keyof HarderCase)[]; readonly why: string }>> = {
  "bert-keepinit-nofold-sdpa-l17": {
    parts: ["embeddings"],
    why: "the tables are inputs with default values, which a caller may replace",
  },
  "q-dyn-albert": { parts: ["embeddings"], why: "the tables are quantized" },
  "q-dyn-bert-allmatmul": { parts: ["embeddings"], why: "the tables are quantized" },
  "q-qdq-all-bert-pc-u8i8": { parts: ["embeddings", "gelus"], why: "tables and activations are quantized" },
  "q-qdq-all-roberta-pc": { parts: ["embeddings", "gelus"], why: "tables and activations are quantized" },
};

type Counts = Readonly<Record<string, number>>;
const total = (counts: Counts, ...names: readonly string[]) =>
  names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);

/** Lists what the case asks for and the fused graph does not have. */
function missingIn(counts: Counts, asked: HarderCase, excuses: readonly (keyof HarderCase)[]): string[] {
  const { expected_fused: claim } = asked;
  if (claim) return meets(counts, claim) ? [] : [`${JSON.stringify(counts)} does not match ${JSON.stringify(claim)}`];
  const found = {
    layers: total(counts, "Attention", "MultiHeadAttention"),
    layer_norms: total(counts, "EmbedLayerNormalization", "SkipLayerNormalization", "LayerNormalization"),
    gelus: total(counts, "BiasGelu", "Gelu", "FastGelu", "QuickGelu"),
    embeddings: total(counts, "EmbedLayerNormalization"),
  };
  return (Object.keys(found) as (keyof typeof found)[])
    .filter((part) => !excuses.includes(part) && found[part] < (asked[part] ?? 0))
    .map((part) => `${found[part]} of ${asked[part]} ${part}`);
}

describeShared("corpus2", "a harder export", (folder) => {
  const cases = casesIn(folder);

  it("is one of 49 cases", () => {
    expect(cases).toHaveLength(49);
  });

  const readCase = async (name: string) => {
    const [path, facts] = ["model.onnx", "case.json"].map((file) => join(folder, name, file)) as [string, string];
    return { path, stored: JSON.parse(readFileSync(facts, "utf8")) as HarderCase, model: await readOnnx(path) };
  };

  it.each(cases)("%s is complete or excused", async (name) => {
    const { model, stored } = await readCase(name);
    const { graph, trace } = await optimized(model);
    const unfused = unfusedParts(graph, trace).map(({ pattern, why }) => `${pattern}: ${why}`);
    const excuses = stored.expect.includes("excused")
      ? [...(excused[name]?.parts ?? []), "layers" as const]
      : excused[name]?.parts;
    expect([...unfused, ...missingIn(fusedCounts(graph.nodes), stored, excuses ?? [])]).toEqual([]);
  });

  it.each(cases)("%s computes the same, and is accepted", async (name) => {
    const { path, model, stored } = await readCase(name);
    const original = fromOnnx(model);
    const { dynamic = "bs", static_batch: rows = 2, static_sequence: tokens = 12 } = stored;
    const fixed = { ...(!dynamic.includes("b") && { rows }), ...(!dynamic.includes("s") && { tokens }) };
    const feeds = paddedBatches(original, fixed);
    const arithmetic = arithmeticOf(original);
    const { bytes } = await optimized(model);
    for (const rewriting of rewritings) {
      const [wanted, found] = [await runModel(path, feeds, rewriting), await runModel(bytes, feeds, rewriting)];
      const shares = wanted.map((outputs, i) => shareOfTolerance(found[i] ?? {}, outputs, arithmetic));
      const what = `share of the tolerance in each batch, onnxruntime's own optimization: ${rewriting}`;
      expect(Math.max(...shares), `${what}: ${shares}`).toBeLessThanOrEqual(1);
    }
    const result = join(await temporaryFolder(), "result.onnx");
    await writeFile(result, bytes);
    judgeParity(await modelParity(path, result));
  });
});
