import { agreement, topLabel } from "./accuracy.ts";
import { type Compute, eachTextOnce } from "./each-text-once.ts";
import type { LabelledText } from "./read-labelled.ts";

/**
 * Computes the accuracy in percent. A text is correct if its largest logit is at the true label.
 *
 * @param classify returns the logits [labels] of each text
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
