import { randomNumbers } from "../evaluate/token-batches.ts";
import { substituteSymbols } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { elementCount, type Tensor, tensorFromNumbers } from "../graph/tensor.ts";
import { tableRows } from "./table-rows.ts";

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
