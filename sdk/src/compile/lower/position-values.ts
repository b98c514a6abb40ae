import { runSubgraph } from "../evaluate/run-subgraph.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { int64s, numbersOf, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import { unsupportedModel } from "./unsupported.ts";

/**
 * Relative tolerance for equal tables. onnxruntime may round the last elements of a vector differently, if they do not
 * fill a SIMD register.
 */
const TOLERANCE = 1e-5;

/** Nodes that depend on the token ids, and values that depend only on the number of tokens. */
export interface PositionValues {
  /** Nodes that depend on looked-up token embeddings, in topological order. */
  readonly nodes: readonly Node[];
  /** Other values that these nodes read, computed for the longest text. */
  readonly tables: ReadonlyMap<Value, Tensor>;
  /**
   * For tables whose positions skip padding tokens: the id of the padding token, and the row of the table for this
   * token.
   */
  readonly paddings: ReadonlyMap<Value, Padding>;
}

interface Padding {
  /** Token id of padding. */
  readonly id: number;
  /** Row of the table for padding tokens, [width]. */
  readonly row: Float32Array;
}

/**
 * Computes positions, masks and biases once, for the longest text. This works because these values depend on the number
 * of tokens, not on the token ids. RoBERTa's positions are the exception: they skip padding tokens.
 *
 * @param tokens number of tokens of the longest text
 * @throws BertEdgeError `engine_unsupported` when a value cannot be computed or depends on the token ids, or when the
 *   table for a shorter text is not a prefix of the table for the longest text
 */
export async function positionValues(graph: Graph, tokens: number): Promise<PositionValues> {
  const nodes = nodesAfterLookup(graph);
  const computed = new Set(nodes.flatMap(({ outputs }) => outputs));
  const read = nodes.flatMap(({ inputs }) => inputs.filter((value) => value !== undefined));
  const wanted = [...new Set(read)].filter((value) => !computed.has(value) && !value.isConstant);
  const special = comparedIds(graph);
  const idsOf = (count: number, factor: number) => ordinaryIds(count, factor, special);
  const shorter = Math.ceil(tokens / 2);
  const evaluated = async (ids: readonly number[]) => {
    const found = await evaluate(graph, wanted, ids);
    if (!found) throw unsupportedModel("its positions, masks or biases cannot be computed from the number of tokens");
    return new Map(wanted.map((value, i) => [value, found[i] as Tensor]));
  };
  const [first, second] = [await evaluated(idsOf(tokens, 5)), await evaluated(idsOf(tokens, 7))];
  const short = await evaluated(idsOf(shorter, 5));
  const lookups = new Set(nodes.filter(isLookup).map(({ inputs }) => inputs[1]));
  const tables = new Map<Value, Tensor>();
  for (const value of wanted) {
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
    const padded = await evaluated(ids);
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
  return { nodes, tables, paddings };
}

const isLookup = (node: Node) => node.is("GatherBlockQuantized", MICROSOFT);

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

async function evaluate(graph: Graph, wanted: readonly Value[], ids: readonly number[]): Promise<Tensor[] | undefined> {
  if (wanted.length === 0) return [];
  const shape = [1, ids.length];
  const contents: Record<string, readonly number[]> = { input_ids: ids, attention_mask: ids.map(() => 1) };
  const given = graph.inputs.map((input): [Value, Tensor] => {
    const values = contents[input.name] ?? ids.map(() => 0);
    const isShort = input.dtype === "int32";
    return [input, isShort ? tensor("int32", shape, Int32Array.from(values)) : { ...int64s(...values), shape }];
  });
  return runSubgraph(graph, wanted, new Map(given));
}
