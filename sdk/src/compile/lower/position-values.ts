import { runSubgraph } from "../evaluate/run-subgraph.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { EDGE } from "../graph/operators.ts";
import { int64s, numbersOf, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import { unsupportedModel } from "./unsupported.ts";

/**
 * Relative tolerance for equal tables. onnxruntime may round the last elements of a vector differently, if they do not
 * fill a SIMD register.
 */
const TOLERANCE = 1e-5;

/** Values that depend only on the number of tokens, for tokens of one token type. */
export interface PositionTables {
  /** The values, computed for the longest text. */
  readonly tables: ReadonlyMap<Value, Tensor>;
  /**
   * For tables whose positions skip padding tokens: the id of the padding token, and the row of the table for this
   * token.
   */
  readonly paddings: ReadonlyMap<Value, Padding>;
}

/** Nodes that depend on the token ids, and the other values that these nodes read. */
export interface PositionValues {
  /** Nodes that depend on looked-up token embeddings, in topological order. */
  readonly nodes: readonly Node[];
  /** The values if all tokens have token type 0. */
  readonly first: PositionTables;
  /** The values that are different for tokens with token type 1. Undefined for programs that take single texts. */
  readonly second?: PositionTables;
}

interface Padding {
  /** Token id of padding. */
  readonly id: number;
  /** Row of the table for padding tokens, [width]. */
  readonly row: Float32Array;
}

/** Computes values of a graph for one text. `types` are the token types. */
type Evaluate = (ids: readonly number[], types: readonly number[]) => Promise<ReadonlyMap<Value, Tensor>>;

/**
 * Computes positions, masks and biases once, for the longest text. This works because these values depend on the number
 * of tokens, not on the token ids. RoBERTa's positions are the exception: they skip padding tokens.
 *
 * @param tokens number of tokens of the longest text
 * @param pairs whether to compute the values for token type 1 too
 * @throws BertEdgeError `engine_unsupported` when a value cannot be computed or depends on the token ids, when the table
 *   for a shorter text is not a prefix of the table for the longest text, or when rows depend on the types of other tokens
 */
export async function positionValues(graph: Graph, tokens: number, pairs = false): Promise<PositionValues> {
  const nodes = nodesAfterLookup(graph);
  const computed = new Set(nodes.flatMap(({ outputs }) => outputs));
  const read = nodes.flatMap(({ inputs }) => inputs.filter((value) => value !== undefined));
  const wanted = [...new Set(read)].filter((value) => !computed.has(value) && !value.isConstant);
  const lookups = new Set(nodes.filter(isLookup).map(({ inputs }) => inputs[1]));
  const special = comparedIds(graph);
  const evaluated: Evaluate = async (ids, types) => {
    const found = await evaluate(graph, wanted, ids, types);
    if (!found) throw unsupportedModel("its positions, masks or biases cannot be computed from the number of tokens");
    return new Map(wanted.map((value, i) => [value, found[i] as Tensor]));
  };
  const first = await tablesOf(evaluated, { lookups, special, tokens, type: 0 });
  if (!pairs) return { nodes, first };
  const ofOnes = await tablesOf(evaluated, { lookups, special, tokens, type: 1 });
  const mixed = await evaluated(ordinaryIds(tokens, 5, special), mixedTypes(tokens));
  const tables = new Map<Value, Tensor>();
  for (const [value, table] of first.tables) {
    const other = ofOnes.tables.get(value) as Tensor;
    if (Buffer.compare(table.data, other.data) !== 0) tables.set(value, other);
    if (!isMixed(mixed.get(value) as Tensor, table, other, tokens)) {
      throw unsupportedModel(`"${value.name}" of a token depends on the token types of other tokens`);
    }
  }
  return { nodes, first, second: { tables, paddings: ofOnes.paddings } };
}

interface TableOptions {
  /** Values whose elements are looked up in the token embedding table. */
  readonly lookups: ReadonlySet<Value | undefined>;
  /** Constants that the graph compares with Equal, such as the id of the padding token. */
  readonly special: readonly number[];
  readonly tokens: number;
  readonly type: number;
}

/** Computes the values for texts whose tokens all have the same token type. */
async function tablesOf(
  evaluated: Evaluate,
  { lookups, special, tokens, type }: TableOptions,
): Promise<PositionTables> {
  const evaluatedFor = (ids: readonly number[]) =>
    evaluated(
      ids,
      ids.map(() => type),
    );
  const idsOf = (count: number, factor: number) => ordinaryIds(count, factor, special);
  const shorter = Math.ceil(tokens / 2);
  const [first, second] = [await evaluatedFor(idsOf(tokens, 5)), await evaluatedFor(idsOf(tokens, 7))];
  const short = await evaluatedFor(idsOf(shorter, 5));
  const tables = new Map<Value, Tensor>();
  for (const value of first.keys()) {
    const [one, other, part] = [first, second, short].map((of) => of.get(value)) as [Tensor, Tensor, Tensor];
    if (lookups.has(value)) {
      if (!isIds(one, idsOf(tokens, 5)) || !isIds(other, idsOf(tokens, 7)))
        throw unsupportedModel(`the token embeddings are looked up by "${value.name}", which is not input_ids`);
    } else if (Buffer.compare(one.data, other.data) !== 0) {
      throw unsupportedModel(`"${value.name}" depends on the token ids, but is not computed from their embeddings`);
    } else if (!isPrefix(part, one, [shorter, tokens])) {
      throw unsupportedModel(
        `"${value.name}" for ${shorter} tokens is not a prefix of "${value.name}" for ${tokens} tokens. ` +
          "Position tables must be the same for texts of every length",
      );
    } else tables.set(value, one);
  }
  const paddings = new Map<Value, Padding>();
  for (const id of special) {
    const ids = idsOf(tokens, 5).map((ordinary, i) => (isPadded(i) ? id : ordinary));
    const padded = await evaluatedFor(ids);
    for (const [value, table] of tables) {
      const found = padded.get(value) as Tensor;
      if (Buffer.compare(found.data, table.data) === 0) continue;
      const row = paddingRow(found, table, tokens);
      if (!row || paddings.has(value)) {
        throw unsupportedModel(
          `"${value.name}" depends on token id ${id}. The only supported case is positions that skip one padding token id`,
        );
      }
      paddings.set(value, { id, row });
    }
  }
  return { tables, paddings };
}

const isLookup = (node: Node) => node.is("GatherBlockQuantized", MICROSOFT) || node.is("LookupLevels", EDGE);

/** Returns the nodes that look up token embeddings, and all nodes that depend on them. */
function nodesAfterLookup(graph: Graph): Node[] {
  const computed = new Set<Value | undefined>();
  return graph.sorted().filter((node) => {
    const isAfter = isLookup(node) || node.inputs.some((value) => value && computed.has(value));
    if (isAfter) for (const value of node.outputs) computed.add(value);
    return isAfter;
  });
}

/**
 * Whether the tensor `all` starts with the tensor `part`. Along axes with one entry per token, `part` may be shorter.
 *
 * @param counts two numbers of tokens: one for `part` and one for `all`
 */
function isPrefix(part: Tensor, all: Tensor, [tokens, allTokens]: readonly [number, number]): boolean {
  const fits = part.shape.every(
    (size, axis) => size === all.shape[axis] || (size === tokens && all.shape[axis] === allTokens),
  );
  if (!fits || part.shape.length !== all.shape.length || part.dtype !== all.dtype) return false;
  const [some, every] = [elementsOf(part), elementsOf(all)];
  const compare = (axis: number, at: number, allAt: number): boolean => {
    const size = part.shape[axis];
    if (size === undefined) return areEqual(some[at] as number, every[allAt] as number);
    const allSize = all.shape[axis] as number;
    for (let i = 0; i < size; i++) if (!compare(axis + 1, at * size + i, allAt * allSize + i)) return false;
    return true;
  };
  return compare(0, 0, 0);
}

/**
 * Returns the elements of a tensor. Does not copy float32, because tables for long texts are large; `numbersOf` copies.
 */
const elementsOf = (found: Tensor): ArrayLike<number> =>
  found.dtype === "float32" ? toFloat32(found) : numbersOf(found);

const areEqual = (a: number, b: number): boolean => a === b || Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a));

const isIds = (found: Tensor, ids: readonly number[]) => numbersOf(found).join() === ids.join();

/** Returns the constants that the graph compares with Equal, for example the id of the padding token. */
const comparedIds = (graph: Graph): number[] => [
  ...new Set(
    [...graph.nodes]
      .filter((node) => node.is("Equal"))
      .flatMap(({ inputs }) => inputs.flatMap((input) => (input?.constant ? numbersOf(input.constant) : []))),
  ),
];

/** Makes token ids without special ids and without equal neighbours. A different factor gives different ids. */
function ordinaryIds(count: number, factor: number, special: readonly number[]): number[] {
  const ids = Array.from({ length: 83 + special.length }, (_, i) => 10 + i).filter((id) => !special.includes(id));
  return Array.from({ length: count }, (_, i) => ids[(i * factor) % 83] as number);
}

/** Whether this position of a test text has a padding token: every third position. */
const isPadded = (index: number) => index % 3 === 1;

/**
 * Finds the row of padding tokens in the table of a text with padding.
 *
 * @param found table of the text with padding
 * @param table table of a text without padding
 * @returns undefined if padding tokens have different rows, or if the rows of the other tokens are not the first rows
 *   of `table` in the same order
 */
function paddingRow(found: Tensor, table: Tensor, tokens: number): Float32Array | undefined {
  const width = table.shape.at(-1) ?? 0;
  if (table.dtype !== "float32" || table.data.length !== 4 * tokens * width) return undefined;
  const [rows, all] = [toFloat32(found), toFloat32(table)];
  const rowOf = (values: Float32Array, at: number) => values.slice(at * width, (at + 1) * width);
  const padding = rowOf(rows, 1);
  let counted = 0;
  for (let i = 0; i < tokens; i++) {
    const wanted = isPadded(i) ? padding : rowOf(all, counted++);
    if (rowOf(rows, i).some((value, j) => value !== wanted[j])) return undefined;
  }
  return padding;
}

/** Types of the tokens of a test text: every third token and the second half of the text have type 1. */
const mixedTypes = (tokens: number): number[] =>
  Array.from({ length: tokens }, (_, i) => Number(i % 3 === 1 || 2 * i > tokens));

/** Whether each row of `mixed` equals the row of `first` or `second`, depending on the token's type in `mixedTypes`. */
function isMixed(mixed: Tensor, first: Tensor, second: Tensor, tokens: number): boolean {
  if (Buffer.compare(first.data, second.data) === 0) return Buffer.compare(first.data, mixed.data) === 0;
  const bytes = mixed.data.length / tokens;
  return mixedTypes(tokens).every((type, i) => {
    const row = ({ data }: Tensor) => data.subarray(i * bytes, (i + 1) * bytes);
    return Buffer.compare(row(mixed), row(type ? second : first)) === 0;
  });
}

async function evaluate(
  graph: Graph,
  wanted: readonly Value[],
  ids: readonly number[],
  types: readonly number[],
): Promise<Tensor[] | undefined> {
  if (wanted.length === 0) return [];
  const shape = [1, ids.length];
  const contents: Record<string, readonly number[]> = {
    input_ids: ids,
    attention_mask: ids.map(() => 1),
    token_type_ids: types,
  };
  const given = graph.inputs.map((input): [Value, Tensor] => {
    const values = contents[input.name] ?? ids.map(() => 0);
    const isShort = input.dtype === "int32";
    return [input, isShort ? tensor("int32", shape, Int32Array.from(values)) : { ...int64s(...values), shape }];
  });
  return runSubgraph(graph, wanted, new Map(given));
}
