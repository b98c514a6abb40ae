import { BertEdgeError } from "../../../artifact/error.ts";

/** A model: one vector, or a label's logits, for each text. */
export type Compute = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/**
 * What a model computes from texts, each distinct one computed once.
 *
 * @returns the text's numbers
 * @throws BertEdgeError `vector_invalid` for NaN and infinite numbers, which no metric would show
 */
export async function eachTextOnce(texts: Iterable<string>, compute: Compute): Promise<(text: string) => Float32Array> {
  const distinct = [...new Set(texts)];
  const results = await compute(distinct);
  const invalid = results.findIndex((numbers) => !numbers.every(Number.isFinite));
  if (invalid >= 0) {
    throw new BertEdgeError(
      "vector_invalid",
      `The model gave NaN or infinite numbers for ${JSON.stringify(distinct[invalid])}.`,
    );
  }
  const byText = new Map(distinct.map((text, i) => [text, results[i] as Float32Array]));
  return (text) => byText.get(text) as Float32Array;
}
