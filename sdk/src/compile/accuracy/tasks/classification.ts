import { linesOf, readData, unexpected } from "./data-file.ts";
import { type Compute, eachTextOnce } from "./each-text-once.ts";

/** A text and the index of its true label. */
export interface LabelledText {
  readonly text: string;
  readonly label: number;
}

const HINT =
  "Each line must have a text, a tab and a label: an index that starts at 0, or one of the model's label names.";

/**
 * Reads lines with a text, a tab and a label. A label is a name in `labels` or the index of a name. If any name is
 * itself a number, indices are not accepted.
 *
 * @param labels the model's label names, by index
 * @throws BertEdgeError `data_missing`; `data_invalid` with the number of the wrong line
 */
export const readLabelled = (path: string, labels: readonly string[]): Promise<readonly LabelledText[]> =>
  readData(path, HINT, (text, source) => parseLabelled(text, source, labels));

/** @throws BertEdgeError `data_invalid` with the number of the wrong line */
export function parseLabelled(text: string, source: string, labels: readonly string[]): LabelledText[] {
  const indexOf = new Map(labels.map((name, index) => [name, index]));
  const namesAreNumbers = labels.some((name) => /^\d+$/.test(name));
  if (!namesAreNumbers) for (const index of labels.keys()) indexOf.set(String(index), index);
  const known = `${namesAreNumbers ? "" : `0 to ${labels.length - 1}, or `}one of ${labels.join(", ")}`;
  return linesOf(text, source).map((line) => {
    const columns = line.text.split("\t");
    const [content = "", name = ""] = columns;
    if (columns.length !== 2) throw unexpected(line, `a text, a tab and a label, not ${columns.length} columns`, HINT);
    if (content === "") throw unexpected(line, "a text before the tab", HINT);
    const label = indexOf.get(name);
    if (label === undefined) throw unexpected(line, `a label after the tab (${known})`, HINT);
    return { text: content, label };
  });
}

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

/** Returns the largest number; NaN if any number is NaN. Lists of a whole vocabulary are too long for Math.max(...). */
export const largest = (numbers: Float32Array): number =>
  numbers.reduce((max, value) => Math.max(max, value), Number.NEGATIVE_INFINITY);

/** Returns the index of the largest logit. Of equal logits, the first one counts. */
export const topLabel = (logits: Float32Array): number => logits.indexOf(largest(logits));

/**
 * Returns the percentage of labels that agree between two lists. NaN for empty lists.
 *
 * @throws RangeError when the lists differ in length
 */
export function agreement(found: readonly number[], expected: readonly number[]): number {
  if (found.length !== expected.length)
    throw new RangeError(`Cannot compare ${found.length} labels with ${expected.length}.`);
  return (100 * found.filter((label, i) => label === expected[i]).length) / expected.length;
}
