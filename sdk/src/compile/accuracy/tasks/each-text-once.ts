import { BertEdgeError } from "../../../artifact/error.ts";

/** Runs a model: returns a vector, or the logits of the labels, for each text. */
export type Compute = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/**
 * Runs a model on texts, once for each distinct text.
 *
 * @returns a function that gives the result of a text
 * @throws BertEdgeError `vector_invalid` for NaN and infinite numbers, which a metric could hide
 */
export async function eachTextOnce(texts: Iterable<string>, compute: Compute): Promise<(text: string) => Float32Array> {
  const distinct = [...new Set(texts)];
  const results = await compute(distinct);
  const invalid = results.findIndex((numbers) => !numbers.every(Number.isFinite));
  if (invalid >= 0) {
    throw new BertEdgeError(
      "vector_invalid",
      `The model computes NaN or infinite numbers for the text ${JSON.stringify(distinct[invalid])}.`,
      { hint: "Check the checkpoint for NaN, infinite and very large weights." },
    );
  }
  const byText = new Map(distinct.map((text, i) => [text, results[i] as Float32Array]));
  return (text) => byText.get(text) as Float32Array;
}
