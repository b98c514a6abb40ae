import { linesOf, readData, unexpected } from "./data-file.ts";

/** Two sentences and a human similarity score. Only the order of the scores matters. */
export interface StsPair {
  readonly score: number;
  readonly first: string;
  readonly second: string;
}

/** Columns of STS-B's files: genre, file, year, id, score, sentence, sentence. Some lines have further columns. */
const STSB_SCORE = 4;
const STSB_COLUMNS = 7;

const HINT =
  "Give STS-B's sts-test.csv, or lines with a score and two sentences, separated by tabs and without quotes.";

/**
 * Reads pairs of sentences. Lines have three columns (score, sentence, sentence), or at least seven as in STS-B's
 * sts-test.csv (http://ixa2.si.ehu.eus/stswiki/index.php/STSbenchmark). Tabs separate
 * columns; quotes are part of the sentences.
 *
 * @throws BertEdgeError `data_missing`; `data_invalid` with the number of the wrong line
 */
export const readSts = (path: string): Promise<readonly StsPair[]> => readData(path, HINT, parseSts);

/** @throws BertEdgeError `data_invalid` with the number of the wrong line */
export const parseSts = (text: string, source: string): StsPair[] =>
  linesOf(text, source).map((line) => {
    const columns = line.text.split("\t");
    const isStsb = columns.length >= STSB_COLUMNS;
    if (!isStsb && columns.length !== 3) {
      throw unexpected(line, `3 columns, or at least 7, instead of ${columns.length}`, HINT);
    }
    const [score = "", first = "", second = ""] = columns.slice(isStsb ? STSB_SCORE : 0);
    const column = isStsb ? STSB_SCORE + 1 : 1;
    if (!/^-?\d+(\.\d+)?$/.test(score)) throw unexpected(line, `a number (the score) in column ${column}`, HINT);
    if (first === "" || second === "") {
      throw unexpected(line, `sentences in columns ${column + 1} and ${column + 2}`, HINT);
    }
    return { score: Number(score), first, second };
  });
