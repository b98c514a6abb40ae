import type { GoldenTexts } from "../../../artifact/manifest.ts";
import type { Model } from "../../../runtime/model.ts";
import type { ComparedLine } from "./compare-lines.ts";
import { promptNameOf, readInput } from "./golden-call.ts";

/** Lines that become golden texts: an edge asks a foreign region for all of them every ten minutes. */
const MAX_TEXTS = 16;

/** Longest golden text in tokens. The longest probe text has about 200. */
const MAX_TOKENS = 256;

/**
 * Chooses lines of a golden file as golden texts of the artifact: lines from the whole file, in their order. The texts are what
 * the model reads, with their prompts. Long texts and those that are cut are left out, because other servers may cut them elsewhere.
 *
 * @returns undefined for models that do not embed, and if no line is left
 */
export function chosenGolden(
  compared: readonly ComparedLine[],
  model: Pick<Model, "manifest" | "tokenizer">,
): GoldenTexts | undefined {
  const { manifest } = model;
  if (manifest.task !== "embed") return undefined;
  const most = Math.min(MAX_TOKENS, manifest.maxTokens - 1);
  const whole = compared.flatMap(({ line, answer }) => {
    const { input, tokens } = readInput(line, model);
    // A request for the whole text would pool the prompt, too. The default prompt is put before it by the deployment.
    const isUnpooled = manifest.poolsPrompt === false && input !== line.input;
    if (isUnpooled && promptNameOf(line, manifest) !== manifest.defaultPrompt) return [];
    const vector = "rows" in answer ? answer.rows[0] : undefined;
    return typeof input === "string" && vector && tokens <= most ? [{ text: input, vector }] : [];
  });
  const step = Math.max(whole.length / MAX_TEXTS, 1);
  const chosen = whole.filter((_, i) => Math.floor(i / step) > Math.floor((i - 1) / step));
  if (chosen.length === 0) return undefined;
  return { texts: chosen.map(({ text }) => text), vectors: chosen.map(({ vector }) => vector) };
}
