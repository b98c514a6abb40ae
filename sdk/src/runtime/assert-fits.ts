import { BertEdgeError } from "../artifact/error.ts";
import { type Manifest, PREPARE_AGAIN } from "../artifact/manifest.ts";
import { outputWidth } from "../artifact/output-width.ts";
import type { ModelShape } from "./engine/engine.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

/**
 * Checks that a model file has the sizes that its manifest gives. They decide where texts are cut and how vectors are read.
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
    throw notOfManifest(what, described, own, manifest.name);
  }
}

/** Returns the error of a model that differs from its manifest in a size. */
export const notOfManifest = (what: string, described: number, own: number, name: string): BertEdgeError =>
  new BertEdgeError(
    "model_invalid",
    `The manifest of ${name} gives the ${what} ${described}, but the model file has ${own}.`,
    { hint: "Prepare the artifact again with this version of bert-edge." },
  );

/**
 * Checks that `maxTokens` has room for at least one token of a text beside the special tokens, also if the text is part of a pair,
 * or follows the default prompt.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function assertTokenizerFits(manifest: Manifest, tokenizer: Tokenizer): void {
  const { name, maxTokens } = manifest;
  const readsPairs = manifest.task === "answer" || (manifest.task === "classify" && manifest.input === "pair");
  const tokens = Math.max(tokenizer.encode("", maxTokens).tokens, readsPairs ? tokensOfPair(tokenizer, maxTokens) : 0);
  const refuse = (what: string) =>
    new BertEdgeError("tokenizer_invalid", `${what}, but the model takes ${maxTokens} tokens in all.`, {
      hint: PREPARE_AGAIN,
    });
  if (tokens >= maxTokens) throw refuse(`The tokenizer of ${name} puts ${tokens} tokens around texts`);
  const prompt = ("defaultPrompt" in manifest && manifest.prompts?.[manifest.defaultPrompt ?? ""]) || "";
  const prompted = tokenizer.encode(prompt, maxTokens).tokens;
  if (prompted >= maxTokens) throw refuse(`The default prompt of ${name} has at least ${prompted} tokens`);
}

/** Returns the number of special tokens around two texts; 0 if the tokenizer cannot encode pairs, and refuses requests with pairs. */
function tokensOfPair(tokenizer: Tokenizer, maxTokens: number): number {
  try {
    return tokenizer.encodePair("", "", maxTokens).tokens;
  } catch (error) {
    if (error instanceof BertEdgeError && error.code === "pairs_unsupported") return 0;
    throw error;
  }
}
