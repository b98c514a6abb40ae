import { probe, sourcesOf, symbolsIn } from "../../evaluate/probe.ts";
import { numbersOf } from "../../graph/tensor.ts";
import type { Question } from "../../rewrite/rule.ts";

/** How the elements of a head form pairs, and where the tables of cos and sin have the angle of each pair. */
export interface Pairing {
  readonly interleaved: boolean;
  /** Whether a table [1 or batch, …, sequence, columns] has the form below, and depends only on positions. */
  readonly table: Question<boolean>;
  /** Start, end and step of the table's columns with one angle for each pair, given the number of pairs. */
  readonly columns: (pairs: number) => readonly [start: number, end: number, step: number];
}

const ONCE = "computed from positions alone, the same for every text";
export const halves: Pairing = {
  interleaved: false,
  table: tableQuestion(`${ONCE}, and the same in both halves of a head`, (column, columns) => column % (columns / 2)),
  columns: (pairs) => [0, pairs, 1],
};
export const pairs: Pairing = {
  interleaved: true,
  table: tableQuestion(`${ONCE}, and the same for both elements of a pair`, (column) => column - (column % 2)),
  columns: (pairs) => [0, 2 * pairs, 2],
};
/** Tables that have only one column for each pair. */
export const single: Omit<Pairing, "interleaved"> = {
  table: tableQuestion(ONCE, (column) => column),
  columns: (pairs) => [0, pairs, 1],
};

/**
 * Makes a question about a table [1 or batch, …, sequence, columns]: whether it depends only on sizes, is the same for
 * every text, and repeats its columns.
 *
 * @param name says this in the reason why a rotation is not fused
 * @param original returns the column that a column must equal
 */
function tableQuestion(name: string, original: (column: number, columns: number) => number): Question<boolean> {
  return {
    name,
    async answer(graph, value) {
      const sources = sourcesOf(value);
      const rank = value.shape?.length ?? 0;
      if (!sources || sources.inputs.size > 0 || rank < 3 || rank > 4) return false;
      const symbols = new Map([...symbolsIn(sources)].map((symbol, i) => [symbol, 5 + 2 * i]));
      const found = await probe(graph, value, sources, symbols, new Map());
      const [batch = 0, ...inner] = found?.shape ?? [];
      const [length = 0, size = 0] = inner.slice(-2);
      if (!found || batch === 0 || inner.length !== rank - 1 || (rank === 4 && inner[0] !== 1)) return false;
      const elements = numbersOf(found);
      return elements.every((element, i) => {
        const [at, column] = [i % (length * size), i % size];
        return element === elements[at - column + original(column, size)];
      });
    },
  };
}
