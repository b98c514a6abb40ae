import type { GoldenTexts, Task } from "../../artifact/manifest.ts";
import type { Model } from "../../runtime/model.ts";
import type { TextModel } from "../model/text-model.ts";
import type { ComparedLine } from "./golden/compare-lines.ts";
import { promptNameOf, readInput } from "./golden/golden-call.ts";
import { variedTexts } from "./probe-texts.ts";

/**
 * Indices of the varied texts that become golden texts. They have 1 to 200 tokens, several scripts and capitals, so a different
 * tokenizer, pooling or token limit gives other vectors.
 */
const CHOSEN = [0, 1, 3, 5, 8, 11, 16, 19, 20];

/**
 * Returns the chosen probe texts with a model's default prompt. Requests that name no prompt get the default prompt, so the golden
 * texts have it too.
 *
 * @returns an empty list for models without a default prompt: their golden texts are the probe texts themselves
 */
export function promptedProbes(task: Task): string[] {
  if (task.task !== "embed" || task.defaultPrompt === undefined) return [];
  const prompt = task.prompts?.[task.defaultPrompt] ?? "";
  return CHOSEN.map((index) => prompt + variedTexts[index]);
}

/**
 * Chooses the golden texts of a sentence encoder. Leaves out texts that the tokenizer cuts, because other servers may cut them
 * elsewhere.
 *
 * @param reference float32 results of the texts of `probesOf`
 * @param own golden texts from the user's golden file, which come first
 * @returns undefined for other tasks, or if no text is left
 */
export function goldenTextsOf(
  { task, maxTokens, encode }: Pick<TextModel, "task" | "maxTokens" | "encode">,
  reference: readonly Float32Array[],
  own: GoldenTexts = { texts: [], vectors: [] },
): GoldenTexts | undefined {
  if (task.task !== "embed") return undefined;
  const prompted = promptedProbes(task);
  const probes =
    prompted.length > 0
      ? prompted.map((text, i) => ({ text, vector: reference.at(i - prompted.length) }))
      : CHOSEN.map((index) => ({ text: variedTexts[index] as string, vector: reference[index] }));
  const lengths = encode(probes.map(({ text }) => text)).map(({ length }) => length);
  const whole = probes.filter((_, i) => (lengths[i] ?? maxTokens) < maxTokens);
  if (whole.length + own.texts.length === 0) return undefined;
  return {
    texts: [...own.texts, ...whole.map(({ text }) => text)],
    vectors: [...own.vectors, ...whole.map(({ vector }) => Float32Array.from(vector as Float32Array))],
  };
}

/** Maximum number of lines that become golden texts. An edge sends all golden texts to a foreign region every ten minutes. */
const MAX_TEXTS = 16;

/** Maximum number of tokens of a golden text. The longest probe text has about 200. */
const MAX_TOKENS = 256;

/**
 * Chooses lines from all parts of a golden file as golden texts of the artifact, in the order of the file. Each text includes its
 * prompt. Leaves out long texts, and texts that the model cuts, because other servers may cut them elsewhere.
 *
 * @returns undefined for models that do not embed, or if no line is left
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
    // A deployment pools a prompt that is part of a request's text, but this model does not pool prompts. Only the default prompt can
    // be left out of the text, because the deployment adds it again. Lines with another prompt are therefore skipped.
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
