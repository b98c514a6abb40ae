import { type Dim, type Shape, sameDim } from "../../graph/dim.ts";
import type { Node, Value } from "../../graph/node.ts";
import { elementCount, elementSize, numbersOf, type Tensor, tensorFromNumbers } from "../../graph/tensor.ts";
import { type Refusal, type Rewrite, refuse, UNANSWERED } from "../../rewrite/rule.ts";
import { vectorOf } from "../../rewrite/values.ts";
import { embeddingIndices, leadingTableRows } from "./embedding-indices.ts";

/** A lookup of rows in a constant table [rows, width]. */
export interface Lookup {
  readonly table: Value;
  readonly ids: Value;
}

/** The terms of a sum of embeddings, by kind. */
interface EmbeddingParts {
  /** Lookups whose ids are inputs of the graph, or are computed from inputs. */
  readonly data: readonly Lookup[];
  /** Vectors that are added to every token. */
  readonly rows: readonly Tensor[];
  /** Position table [positions, width]. Every text uses its first rows. */
  readonly positions: Tensor | undefined;
}

/** Classifies the terms of a sum [batch, sequence, width], by `embeddingIndices` and `leadingTableRows`. */
export function embeddingParts(
  { root, ask }: Rewrite,
  terms: readonly Value[],
  [, sequence, width]: Shape,
): EmbeddingParts | Refusal {
  const data: Lookup[] = [];
  const rows: Tensor[] = [];
  const positions: Tensor[] = [];
  for (const term of terms) {
    const unknown = refuse(`${term.name} is not a token, position or type embedding`, term.producer ?? root);
    const lookup = lookupOf(term);
    if (lookup) {
      const kind = ask(embeddingIndices, lookup.ids);
      if (!kind) return UNANSWERED;
      const table = lookup.table.constant as Tensor;
      const isInside = (index: number) => index >= 0 && index < tableRowsOf(lookup);
      if (kind.kind === "data") data.push(lookup);
      else if (kind.kind === "range" && isInside(kind.offset)) positions.push(from(table, kind.offset));
      else if (kind.kind === "same" && isInside(kind.index)) rows.push(row(table, kind.index));
      else return unknown;
    } else if (term.constant) {
      const found = vectorOf(term, width) ? undefined : positionTable(term.constant, sequence);
      if (found) positions.push(found);
      else if (vectorOf(term, width)) rows.push({ ...term.constant, shape: [elementCount(term.constant.shape)] });
      else return unknown;
    } else {
      const found = ask(leadingTableRows, term);
      if (found === undefined) return UNANSWERED;
      if (!found) return unknown;
      positions.push(found);
    }
  }
  if (positions.length > 1) return refuse("several position tables are added", root);
  return { data, rows, positions: positions[0] };
}

const positionTable = (table: Tensor, sequence: Dim | undefined): Tensor | undefined =>
  sameDim(table.shape.at(-2), sequence) ? oncePerBatch(table) : undefined;

export function lookupOf(term: Value): Lookup | undefined {
  const node: Node | undefined = term.producer;
  const [table, ids] = node?.inputs ?? [];
  const isLookup = node?.is("Gather") && (node.int("axis") ?? 0) === 0 && table?.constant?.shape.length === 2;
  return isLookup && table && ids ? { table, ids } : undefined;
}

export const isComputed = ({ ids }: Lookup) => ids.producer !== undefined && !ids.producer.is("Cast");

export const tableRowsOf = ({ table }: Lookup) => table.constant?.shape[0] ?? 0;

/** Returns the rows of a table from `first` on. */
function from({ dtype, shape, data }: Tensor, first: number): Tensor {
  const [rows = 0, width = 0] = shape;
  return { dtype, shape: [rows - first, width], data: data.subarray((data.length / rows) * first) };
}

/**
 * Returns the rows [sequence, width] that a table [1 or batch, sequence, width] has for every text; undefined if texts
 * have different rows.
 */
function oncePerBatch({ dtype, shape, data }: Tensor): Tensor | undefined {
  const [sequence = 0, width = 0] = shape.slice(-2);
  const bytes = sequence * width * elementSize[dtype];
  for (let at = bytes; at < data.length; at += bytes) {
    if (Buffer.compare(data.subarray(0, bytes), data.subarray(at, at + bytes)) !== 0) return undefined;
  }
  return { dtype, shape: [sequence, width], data: data.subarray(0, bytes) };
}

function row({ dtype, shape, data }: Tensor, index: number): Tensor {
  const [rows = 1, width = 0] = shape;
  const bytes = data.length / rows;
  return { dtype, shape: [width], data: data.subarray(index * bytes, (index + 1) * bytes) };
}

/** Adds a vector to every row of a table. Returns undefined for types other than float32 and float16. */
export function addRow(table: Tensor, vector: Tensor): Tensor | undefined {
  if (table.dtype !== vector.dtype || (table.dtype !== "float32" && table.dtype !== "float16")) return undefined;
  const added = numbersOf(vector);
  const values = numbersOf(table).map((value, i) => value + (added[i % added.length] as number));
  return tensorFromNumbers(table.dtype, table.shape, values);
}
