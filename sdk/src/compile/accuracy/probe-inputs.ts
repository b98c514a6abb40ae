import { randomNumbers } from "../evaluate/token-batches.ts";
import { substituteSymbols } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import { isView } from "../graph/operators.ts";
import { elementCount, type Tensor, tensorFromNumbers } from "../graph/tensor.ts";

/** Inputs of one run of a model, by name. */
export type ProbeInputs = ReadonlyMap<string, Tensor>;

interface Batch {
  readonly batch: number;
  readonly sequence: number;
  /** Whether the mask hides position `at` of a row. `width` is the row's length. */
  readonly hidden: (row: number, at: number, width: number) => boolean;
}

/**
 * Batches with padding on the right, without padding, with padding on the left and between tokens, with a single token,
 * and with longer sequences.
 */
const batches: readonly Batch[] = [
  { batch: 2, sequence: 9, hidden: (row, at) => row === 1 && at >= 6 },
  { batch: 1, sequence: 5, hidden: () => false },
  { batch: 3, sequence: 13, hidden: (row, at) => (row === 1 ? at < 5 : row === 2 && at % 3 === 1) },
  { batch: 1, sequence: 1, hidden: () => false },
  { batch: 2, sequence: 31, hidden: (row, at) => row === 0 && at >= 20 },
  { batch: 1, sequence: 139, hidden: (_, at, width) => at < Math.min(30, width / 3) },
];

/**
 * Makes inputs for any encoder: token ids that its tables contain, masks with padding on either side, and random
 * numbers for other inputs.
 *
 * @returns alternative inputs for each batch, to be tried in order until the model runs: first with a different length
 *   for every symbolic size, then with the same length for all symbolic sizes
 */
export function probeInputs(graph: Graph): (readonly ProbeInputs[])[] {
  return batches.map((batch) => {
    const [together, apart] = [sizesOf(graph, batch, false), sizesOf(graph, batch, true)];
    const differs = [...apart].some(([name, size]) => together.get(name) !== size);
    return (differs ? [apart, together] : [together]).map((sizes) => inputsAt(graph, batch, sizes));
  });
}

function inputsAt(graph: Graph, { sequence, hidden }: Batch, sizes: ReadonlyMap<string, number>): ProbeInputs {
  const random = randomNumbers(20_261_121 + sequence);
  return new Map(
    graph.inputs.map((input): [string, Tensor] => {
      const shape = (input.shape ?? []).map(
        (dim) => substituteSymbols(dim, (name) => sizes.get(name) ?? sequence) as number,
      );
      const rows = tableRows(input);
      const count = elementCount(shape);
      const width = shape.at(-1) ?? 1;
      const at = (i: number) => {
        if (rows !== undefined) return Math.floor(random() * rows);
        if (input.dtype?.startsWith("float") && !isMask(input)) return 2 * random() - 1;
        return hidden(Math.floor(i / width), i % width, width) ? 0 : 1;
      };
      return [
        input.name,
        tensorFromNumbers(
          input.dtype ?? "int64",
          shape,
          Array.from({ length: count }, (_, i) => at(i)),
        ),
      ];
    }),
  );
}

/** Returns a number for each symbolic size. The first dimension of an input is the batch, all others are lengths. */
function sizesOf(graph: Graph, { batch, sequence }: Batch, isApart: boolean): Map<string, number> {
  const sizes = new Map<string, number>();
  let lengths = 0;
  for (const { shape } of graph.inputs) {
    shape?.forEach((dim, axis) => {
      if (typeof dim === "number" || sizes.has(dim.key)) return;
      sizes.set(dim.key, axis === 0 ? batch : sequence + (isApart ? 2 * lengths++ : 0));
    });
  }
  return sizes;
}

const isMask = ({ name, shape }: Value) => /mask/i.test(name) && shape?.length === 2;

/**
 * Returns the number of rows of the smallest table that an input indexes, directly or through casts and changes of
 * shape. The tables may be quantized.
 */
export function tableRows(input: Value): number | undefined {
  const rows: number[] = [];
  const stack: Value[] = [input];
  const seen = new Set<Node>();
  for (let value = stack.pop(); value; value = stack.pop()) {
    for (const user of value.users) {
      if (seen.has(user)) continue;
      seen.add(user);
      const table = tableIn(user);
      if (table?.shape.length === 2 && user.inputs[1] === value) {
        rows.push(table.shape[0] ?? 1);
      } else if (user.is("EmbedLayerNormalization", "com.microsoft")) {
        const position = user.inputs.indexOf(value);
        const shape = user.inputs[position === 0 ? 2 : position === 1 ? 4 : 3]?.shape;
        if (typeof shape?.[0] === "number") rows.push(shape[0]);
      } else if (isView(user) || /^(Cast|Where|Expand)$/.test(user.opType)) stack.push(user.output);
    }
  }
  return rows.length > 0 ? Math.min(...rows) : undefined;
}

/** Returns the constant that a Gather reads rows from, directly or after it is dequantized or cast. */
function tableIn(node: Node): Tensor | undefined {
  if (!node.is("Gather")) return undefined;
  let [table] = node.inputs;
  while (table?.producer && /^(DequantizeLinear|Cast|Identity)$/.test(table.producer.opType))
    [table] = table.producer.inputs;
  return table?.constant;
}
