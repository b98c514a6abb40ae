import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type Claim, type ExportCase, toTensors } from "../fixtures/export-case.ts";
import { shareOfTolerance } from "../oracles/agreement.ts";
import { type Rewriting, runModel } from "../oracles/run-model.ts";

/** Folder of small exported models with random weights, written by `make_exports.py`. */
export const EXPORTS = join(import.meta.dirname, "exports");

/** Returns the names of the cases in a folder; empty if the folder does not exist. */
export const casesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "case.json"))) : [];

/** Expects a model file to compute the stored outputs of an export. */
export async function expectStoredOutputs(
  stored: ExportCase,
  model: Uint8Array<ArrayBuffer> | string,
  rewriting: Rewriting,
): Promise<void> {
  const found = await runModel(model, stored.inputs.map(toTensors), rewriting);
  for (const [i, outputs] of stored.outputs.map(toTensors).entries()) {
    const share = shareOfTolerance(found[i] ?? {}, outputs, stored.dtype === "float16" ? "float16" : "float32");
    expect(share, `share of the tolerance, input set ${i}, onnxruntime's own optimization: ${rewriting}`).toBeLessThan(
      1,
    );
  }
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
