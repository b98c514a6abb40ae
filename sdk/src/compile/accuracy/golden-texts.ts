import type { GoldenTexts, Task } from "../../artifact/manifest.ts";
import type { TextModel } from "../model/text-model.ts";
import { variedTexts } from "./probe-texts.ts";

/**
 * Indices of the varied texts that become golden texts: of 1 to 200 tokens, in several scripts and with capitals, so that
 * another tokenizer, pooling or limit of tokens gives other vectors.
 */
const CHOSEN = [0, 1, 3, 5, 8, 11, 16, 19, 20];

/**
 * Returns the probe texts with a model's default prompt. A request without the name of a prompt has it, so the golden texts have
 * it too.
 *
 * @returns none for models without a default prompt, whose golden texts are the probe texts themselves
 */
export function promptedProbes(task: Task): string[] {
  if (task.task !== "embed" || task.defaultPrompt === undefined) return [];
  const prompt = task.prompts?.[task.defaultPrompt] ?? "";
  return CHOSEN.map((index) => prompt + variedTexts[index]);
}

/**
 * Chooses the golden texts of a sentence encoder. Texts that its tokenizer cuts are left out: other servers may cut them
 * elsewhere.
 *
 * @param reference results of the texts of `probesOf`, in float32
 * @param own golden texts from the user's golden file, which come first
 * @returns undefined for other tasks
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
