import { probe, sourcesOf, symbolsIn } from "../../evaluate/probe.ts";
import { substituteSymbols, symbolOf, symbolsOf } from "../../graph/dim.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";
import { elementCount, isInteger, numbersOf, type Tensor, tensorFromNumbers } from "../../graph/tensor.ts";
import type { Question } from "../../rewrite/rule.ts";

/** The kind of indices into an embedding table. */
export type EmbeddingIndices =
  /** Every row holds the indices `offset`, `offset` + 1, and so on. */
  | { readonly kind: "range"; readonly offset: number }
  /** The same index everywhere. */
  | { readonly kind: "same"; readonly index: number }
  /** Any other indices, such as an input of the graph. */
  | { readonly kind: "data" };

/**
 * Decides whether a value consists of the first rows of a constant table [rows, width]. The answer is this table, or
 * null. Some models slice their position table in this way.
 */
export const leadingTableRows: Question<Tensor | null> = {
  name: "table rows",
  async answer(graph: Graph, value: Value): Promise<Tensor | null> {
    const sources = sourcesOf(value);
    const sequence = symbolOf(value.shape?.at(-2));
    const width = value.shape?.at(-1);
    if (!sources || sources.inputs.size > 0 || sequence === undefined) return null;
    for (const { constant: table } of sources.constants) {
      const [rows = 0, columns] = table?.shape ?? [];
      if (table?.shape.length !== 2 || columns !== width || rows < 2) continue;
      const lengths = [rows, Math.ceil(rows / 2)];
      const found = await Promise.all(
        lengths.map((length) => {
          const symbols = new Map([...symbolsIn(sources)].map((name) => [name, name === sequence ? length : 2]));
          return probe(graph, value, sources, symbols, new Map());
        }),
      );
      if (found.every((result, i) => result && isRepeated(result, table, lengths[i] ?? 0))) return table;
    }
    return null;
  },
};

/** Whether a result [batch, length, width] has the table's first rows for every text of the batch. */
function isRepeated({ data, shape }: Tensor, table: Tensor, length: number): boolean {
  const bytes = (table.data.length / (table.shape[0] ?? 1)) * length;
  if (shape.at(-2) !== length || data.length % bytes !== 0) return false;
  return Array.from({ length: data.length / bytes }, (_, i) => data.subarray(i * bytes, (i + 1) * bytes)).every(
    (part) => Buffer.compare(part, table.data.subarray(0, bytes)) === 0,
  );
}

/** Sequence lengths to probe: two short ones for small tables, and a long one. */
const LENGTHS = [5, 7, 521];

/** Maximum rows of a table to probe. */
const MAX_ROWS = 1 << 14;

/**
 * Decides how an embedding table is indexed. Computes the indices for short and long sequences. One sequence is as long
 * as the table and one is longer, because some models limit indices to the rows of the table.
 */
export const embeddingIndices: Question<EmbeddingIndices> = {
  name: "indices",
  async answer(graph: Graph, value: Value): Promise<EmbeddingIndices> {
    const sources = sourcesOf(value);
    if (!sources || sources.inputs.size > 0 || !isInteger(value.dtype)) return { kind: "data" };
    const rows = largestTableRows(value);
    if (rows > MAX_ROWS) return { kind: "data" };
    const sequence = symbolOf(value.shape?.at(-1));
    const found = new Set<string>();
    for (const length of [...LENGTHS, rows, 2 * rows + 3]) {
      const symbols = new Map([...symbolsIn(sources)].map((name) => [name, name === sequence ? length : 2]));
      const result = await probe(graph, value, sources, symbols, new Map());
      found.add(JSON.stringify(result ? classify(numbersOf(result), result.shape.at(-1) ?? 1) : { kind: "data" }));
    }
    const [only = "", ...others] = found;
    return others.length === 0 ? JSON.parse(only) : { kind: "data" };
  },
};

/**
 * Decides whether indices can be negative. Computes them for inputs that contain only zeros, such as a mask that hides all tokens.
 * Gather counts negative indices from the end of a table, but EmbedLayerNormalization refuses them.
 */
export const negativeIndices: Question<boolean> = {
  name: "negative indices",
  async answer(graph: Graph, value: Value): Promise<boolean> {
    const sources = sourcesOf(value);
    if (!sources) return false;
    const inputs = [...sources.inputs];
    const names = new Set([...symbolsIn(sources), ...inputs.flatMap(({ shape }) => (shape ?? []).flatMap(symbolsOf))]);
    const symbols = new Map([...names].map((name) => [name, LENGTHS[0] as number]));
    const given = new Map<Value, Tensor>();
    for (const input of inputs) {
      const shape = input.shape?.map((dim) => Number(substituteSymbols(dim, (name) => symbols.get(name) ?? 1)));
      if (!input.dtype || !shape) return false;
      given.set(input, tensorFromNumbers(input.dtype, shape, Array(elementCount(shape)).fill(0)));
    }
    const found = await probe(graph, value, sources, symbols, given);
    return found !== undefined && numbersOf(found).some((index) => index < 0);
  },
};

/** Returns the number of rows of the largest table that the value indexes. */
const largestTableRows = (value: Value): number =>
  Math.max(1, ...[...value.users].map((user) => (user.is("Gather") ? (user.inputs[0]?.constant?.shape[0] ?? 1) : 1)));

function classify(values: readonly number[], length: number): EmbeddingIndices {
  const first = values[0];
  if (first === undefined) return { kind: "data" };
  if (length > 1 && values.every((index, i) => index === first + (i % length))) return { kind: "range", offset: first };
  return values.every((index) => index === first) ? { kind: "same", index: first } : { kind: "data" };
}
