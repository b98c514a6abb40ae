import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type Claim, type ExportCase, toTensors } from "../fixtures/export-case.ts";
import { largestOutputDifference, type Rewriting, runModel, type Tensors } from "../oracles/run-model.ts";

/** Exports of small models with random weights: `make_exports.py` beside this file has written them. */
export const EXPORTS = join(import.meta.dirname, "exports");

/** Names of the cases in a folder; none if it does not exist. */
export const casesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "case.json"))) : [];

/**
 * Outputs are normalized hidden states or logits of a few units. Summing in another order changes float32 by about 1e-6
 * there (3e-6 is the largest difference of all cases). A wrong mask, scale or axis changes them by more than 1e-2.
 */
const FLOAT32_TOLERANCE = 1e-4;

/**
 * Units in the last place of the largest output. Fused operators keep float32 where the model rounds to float16 after every
 * operator. Both are right to about one unit per layer, and the models have two layers.
 */
const FLOAT16_UNITS = 4;

/** Expects a model file to compute the stored outputs of an export. */
export async function expectStoredOutputs(
  stored: ExportCase,
  model: Uint8Array | string,
  rewriting: Rewriting,
): Promise<void> {
  const found = await runModel(model, stored.inputs.map(toTensors), rewriting);
  for (const [i, outputs] of stored.outputs.map(toTensors).entries()) {
    const tolerance = stored.dtype === "float16" ? FLOAT16_UNITS * float16Unit(outputs) : FLOAT32_TOLERANCE;
    const difference = largestOutputDifference(found[i] ?? {}, outputs);
    expect(difference, `input set ${i}, onnxruntime's own optimization: ${rewriting}`).toBeLessThan(tolerance);
  }
}

/** The unit in the last place of float16, at the largest magnitude of any output. */
function float16Unit(outputs: Tensors): number {
  const magnitudes = Object.values(outputs).flatMap(({ data }) => Array.from(data as Float32Array, Math.abs));
  return 2 ** (Math.floor(Math.log2(Math.max(...magnitudes))) - 10);
}

/** Operators that are fused instead of others where those do not apply. A claim leaves both open if it leaves one open. */
const substitutes: Readonly<Record<string, string>> = {
  EmbedLayerNormalization: "LayerNormalization",
  Attention: "MultiHeadAttention",
};

/** Whether a graph has the fused operators that a claim counts, and no others. */
export function meets(counts: Readonly<Record<string, number>>, claim: Claim): boolean {
  const unclaimed = Object.keys(claim).filter((name) => claim[name] === null);
  const open = new Set(unclaimed.flatMap((name) => [name, ...(name in substitutes ? [substitutes[name]] : [])]));
  return [...Object.keys(counts), ...Object.keys(claim)].every(
    (name) => (open.has(name) && !claim[name]) || (counts[name] ?? 0) === (claim[name] ?? 0),
  );
}
