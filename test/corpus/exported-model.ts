import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type Claim, type ExportCase, toTensors } from "../fixtures/export-case.ts";
import { largestOutputDifference, type Rewriting, runModel, type Tensors } from "../oracles/run-model.ts";

/** Folder of small exported models with random weights, written by `make_exports.py`. */
export const EXPORTS = join(import.meta.dirname, "exports");

/** Returns the names of the cases in a folder; empty if the folder does not exist. */
export const casesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "case.json"))) : [];

/**
 * Outputs are normalized hidden states or logits, with magnitudes of a few units. Another order of summation changes
 * float32 results by about 1e-6 (the maximum of all cases is 3e-6). A wrong mask, scale or axis changes them by more
 * than 1e-2.
 */
const FLOAT32_TOLERANCE = 1e-4;

/**
 * Tolerance for float16 models, as a number of `float16Unit`s. The original model rounds to float16 after every
 * operator. A fused operator rounds only once. Each of the two results has an error of about one unit per layer, and
 * the models have two layers.
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

/** Returns the distance between two neighboring float16 numbers. The distance is taken at the largest output. */
function float16Unit(outputs: Tensors): number {
  const magnitudes = Object.values(outputs).flatMap(({ data }) => Array.from(data as Float32Array, Math.abs));
  return 2 ** (Math.floor(Math.log2(Math.max(...magnitudes))) - 10);
}

/**
 * Fused operators and their substitutes. The substitute is used where the fused operator does not apply. A claim that
 * accepts any count of a fused operator also accepts any count of its substitute.
 */
const substitutes: Readonly<Record<string, string>> = {
  EmbedLayerNormalization: "LayerNormalization",
  Attention: "MultiHeadAttention",
};

/** Returns true if a graph has the fused operators of a claim, and no others. */
export function meets(counts: Readonly<Record<string, number>>, claim: Claim): boolean {
  const unclaimed = Object.keys(claim).filter((name) => claim[name] === null);
  const open = new Set(unclaimed.flatMap((name) => [name, ...(name in substitutes ? [substitutes[name]] : [])]));
  return [...Object.keys(counts), ...Object.keys(claim)].every(
    (name) => (open.has(name) && !claim[name]) || (counts[name] ?? 0) === (claim[name] ?? 0),
  );
}
