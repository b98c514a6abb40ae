import { BertEdgeError } from "../../artifact/error.ts";
import { runSubgraph } from "../evaluate/run-subgraph.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { int64s, numbersOf, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import { isBeginning } from "./is-beginning.ts";

/** What of a graph depends on what the tokens are, and what on their number alone. */
export interface PositionValues {
  /** Nodes that compute with looked-up words, in order. */
  readonly nodes: readonly Node[];
  /** What the values that these read besides are for `tokens` tokens. */
  readonly tables: ReadonlyMap<Value, Tensor>;
  /** Of tables by position: the id of tokens that are not counted, and the row that they have. */
  readonly paddings: ReadonlyMap<Value, Padding>;
}

interface Padding {
  readonly id: number;
  readonly row: Float32Array;
}

/**
 * Positions, masks and biases do not depend on what the tokens are, however a graph computes them: so they are computed
 * once, for the longest text. But RoBERTa's positions do not count padding, wherever it is.
 *
 * @param tokens of the longest text
 * @throws BertEdgeError `engine_unsupported` with the value that cannot be computed, depends on the ids in another way, or is
 *   for half as many tokens not the beginning of what it is for all
 */
export async function positionValues(graph: Graph, tokens: number): Promise<PositionValues> {
  const nodes = nodesOfWords(graph);
  const computed = new Set(nodes.flatMap(({ outputs }) => outputs));
  const read = nodes.flatMap(({ inputs }) => inputs.filter((value) => value !== undefined));
  const wanted = [...new Set(read)].filter((value) => !computed.has(value) && !value.isConstant);
  const special = comparedIds(graph);
  const idsOf = (count: number, factor: number) => ordinaryIds(count, factor, special);
  const shorter = Math.ceil(tokens / 2);
  const evaluated = async (ids: readonly number[]) => {
    const found = await evaluate(graph, wanted, ids);
    if (!found) throw refusal("cannot compute the model's positions");
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
        throw refusal(`looks up ids, not ${value.name}`);
    } else if (Buffer.compare(one.data, other.data) !== 0) {
      throw refusal(`cannot compute ${value.name}, which depends on what the tokens are`);
    } else if (!isBeginning(part, one, [shorter, tokens])) {
      throw refusal(`cannot compute ${value.name}, which for a shorter text is not the beginning of it`);
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
      if (!row || paddings.has(value)) throw refusal(`cannot compute ${value.name}, which depends on tokens ${id}`);
      paddings.set(value, { id, row });
    }
  }
  return { nodes, tables, paddings };
}

const refusal = (what: string) =>
  new BertEdgeError("engine_unsupported", `The WebAssembly engine ${what}.`, {
    hint: "Use onnxruntime-web for this model.",
  });

const isLookup = (node: Node) => node.is("GatherBlockQuantized", MICROSOFT);

function nodesOfWords(graph: Graph): Node[] {
  const computed = new Set<Value | undefined>();
  return graph.sorted().filter((node) => {
    const isOfWords = isLookup(node) || node.inputs.some((value) => value && computed.has(value));
    if (isOfWords) for (const value of node.outputs) computed.add(value);
    return isOfWords;
  });
}

const isIds = (found: Tensor, ids: readonly number[]) => numbersOf(found).join() === ids.join();

/** Ids that a graph tells from others. */
const comparedIds = (graph: Graph): number[] => [
  ...new Set(
    [...graph.nodes]
      .filter((node) => node.is("Equal"))
      .flatMap(({ inputs }) => inputs.flatMap((input) => (input?.constant ? numbersOf(input.constant) : []))),
  ),
];

/** No two neighbours are the same, and none is among these. */
function ordinaryIds(count: number, factor: number, others: readonly number[]): number[] {
  const ids = Array.from({ length: 83 + others.length }, (_, i) => 10 + i).filter((id) => !others.includes(id));
  return Array.from({ length: count }, (_, i) => ids[(i * factor) % 83] as number);
}

const isPadded = (index: number) => index % 3 === 1;

/** The row of padding, where all other tokens have the rows that they would have without it. */
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
