import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import { type Claim, type ExportCase, readExportCase, toTensors } from "../fixtures/export-case.ts";
import { describeShared } from "../fixtures/shared.ts";
import { fusedCounts, largestDifference, optimized, rewritings, runModel, type Tensors } from "../oracles/run-model.ts";

/**
 * Outputs are normalized states or logits of a few units. Summing in another order changes float32 by some 1e-6 there (3e-6
 * is the largest difference of all cases); a mask, scale or axis that is wrong changes them by more than 1e-2.
 */
const FLOAT32_TOLERANCE = 1e-4;

/**
 * Units in the last place of the largest output. The fused operators keep float32 where the model rounds to float16 after
 * every step, so both are right to about a unit a layer: two layers differ by two.
 */
const FLOAT16_UNITS = 4;

/** Cases that are fused less than they could be, on purpose. */
const exceptions: Readonly<Record<string, { readonly fused: Claim; readonly why: string }>> = Object.fromEntries(
  ["q-bert-dynamic-l17", "q-bert-dynamic-pc-sdpa-dyn", "q-bert-dynamic-u8-l14"].map((name) => [
    name,
    {
      fused: { EmbedLayerNormalization: null, Attention: null, SkipLayerNormalization: 4, BiasGelu: 2 },
      why:
        "the embedding tables are int8 and scaled after the lookup; EmbedLayerNormalization would need them in float32, " +
        "four times the size",
    },
  ]),
);

/** What takes an operator's place where it does not apply: nothing is claimed of it either. */
const substitutes: Readonly<Record<string, string>> = {
  EmbedLayerNormalization: "LayerNormalization",
  Attention: "MultiHeadAttention",
};

function meets(counts: Readonly<Record<string, number>>, claim: Claim): boolean {
  const unclaimed = Object.keys(claim).filter((name) => claim[name] === null);
  const open = new Set(unclaimed.flatMap((name) => [name, ...(name in substitutes ? [substitutes[name]] : [])]));
  return [...Object.keys(counts), ...Object.keys(claim)].every(
    (name) => (open.has(name) && !claim[name]) || (counts[name] ?? 0) === (claim[name] ?? 0),
  );
}

const claimsOf = ({ expected_fused, expected_alt = [] }: ExportCase): readonly Claim[] =>
  expected_fused ? [expected_fused, ...expected_alt] : [];

/** A unit in the last place of float16, at the largest magnitude of any output. */
function float16Unit(outputs: Tensors): number {
  const magnitudes = Object.values(outputs).flatMap(({ data }) => Array.from(data as Float32Array, Math.abs));
  return 2 ** (Math.floor(Math.log2(Math.max(...magnitudes))) - 10);
}

describeShared("corpus", "a model as it was exported", (folder) => {
  const cases = existsSync(folder)
    ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "case.json")))
    : [];

  it("comes in 150 cases", () => {
    expect(cases).toHaveLength(150);
    expect(cases).toEqual(expect.arrayContaining(Object.keys(exceptions)));
  });

  it.each(cases)("%s is fused as far as it can be, and computes the same", async (name) => {
    const stored = readExportCase(join(folder, name));
    const { graph, bytes } = await optimized(await readOnnx(join(folder, name, "model.onnx")));

    const counts = fusedCounts(graph.nodes);
    const exception = exceptions[name];
    const claims = claimsOf(stored);
    const isMet = claims.length === 0 || claims.some((claim) => meets(counts, claim));
    if (exception) {
      expect(isMet, `${name} need not be an exception any more: ${exception.why}`).toBe(false);
      expect(meets(counts, exception.fused), JSON.stringify(counts)).toBe(true);
    } else expect(isMet, `${JSON.stringify(counts)} is none of ${JSON.stringify(claims)}`).toBe(true);

    const wanted = stored.outputs.map(toTensors);
    for (const rewriting of rewritings) {
      const found = await runModel(bytes, stored.inputs.map(toTensors), rewriting);
      for (const [i, outputs] of wanted.entries()) {
        const tolerance = stored.dtype === "float16" ? FLOAT16_UNITS * float16Unit(outputs) : FLOAT32_TOLERANCE;
        const difference = largestDifference(found[i] ?? {}, outputs);
        expect(difference, `input set ${i}, onnxruntime's own optimization: ${rewriting}`).toBeLessThan(tolerance);
      }
    }
  });
});
