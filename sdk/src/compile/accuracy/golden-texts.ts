import type { GoldenTexts } from "../../artifact/golden.ts";
import type { TextModel } from "../model/text-model.ts";
import { probeTexts } from "./probe-texts.ts";

/**
 * Indices of the probe texts that become golden texts: of 1 to 200 tokens, in several scripts and with capitals, so that
 * another tokenizer, pooling or limit of tokens gives other vectors.
 */
const CHOSEN = [0, 1, 3, 5, 8, 11, 16, 19, 20];

/**
 * Chooses the golden texts of a sentence encoder. Texts that its tokenizer cuts are left out: other servers may cut them
 * elsewhere.
 *
 * @param reference results of the probe texts, in float32
 * @returns undefined for other tasks
 */
export function goldenTextsOf(
  { task, maxTokens, encode }: Pick<TextModel, "task" | "maxTokens" | "encode">,
  reference: readonly Float32Array[],
): GoldenTexts | undefined {
  if (task.task !== "embed") return undefined;
  const lengths = encode(probeTexts).map(({ length }) => length);
  const whole = CHOSEN.filter((index) => (lengths[index] ?? maxTokens) < maxTokens);
  if (whole.length === 0) return undefined;
  return {
    texts: whole.map((index) => probeTexts[index] as string),
    vectors: whole.map((index) => Float32Array.from(reference[index] as Float32Array)),
  };
}
