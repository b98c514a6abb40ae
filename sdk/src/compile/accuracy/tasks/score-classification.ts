import { agreement, topLabel } from "./accuracy.ts";
import { type Compute, eachTextOnce } from "./each-text-once.ts";
import type { LabelledText } from "./read-labelled.ts";

/**
 * Accuracy in points: of how many texts in a hundred the largest logit is the true label's.
 *
 * @param classify logits [labels] for each text
 * @throws BertEdgeError `vector_invalid`
 */
export async function scoreClassification(texts: readonly LabelledText[], classify: Compute): Promise<number> {
  const logitsOf = await eachTextOnce(
    texts.map(({ text }) => text),
    classify,
  );
  return agreement(
    texts.map(({ text }) => topLabel(logitsOf(text))),
    texts.map(({ label }) => label),
  );
}
