import { BertEdgeError } from "../artifact/error.ts";
import type { Manifest } from "../artifact/manifest.ts";
import { outputWidth } from "../artifact/output-width.ts";
import type { ModelShape } from "./engine/engine.ts";

/**
 * Checks that a model file is the one that the manifest describes. Texts are cut, and vectors are read, by the sizes in the
 * manifest.
 *
 * @throws BertEdgeError `model_invalid`
 */
export function assertFits(manifest: Manifest, { maxTokens, vocabulary, width }: ModelShape): void {
  const faults = [
    ["maximum length in tokens", manifest.maxTokens, maxTokens],
    ["vocabulary size", manifest.vocabulary, vocabulary],
    ["output width", outputWidth(manifest, manifest.vocabulary), width],
  ] as const;
  for (const [what, described, own] of faults) {
    if (described === own) continue;
    throw new BertEdgeError(
      "model_invalid",
      `The manifest of ${manifest.name} gives the ${what} ${described}, but the model file has ${own}.`,
      { hint: "Prepare the artifact again with this version of bert-edge." },
    );
  }
}
