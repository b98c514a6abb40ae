import { linesOf, readData, unexpected } from "./data-file.ts";

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
