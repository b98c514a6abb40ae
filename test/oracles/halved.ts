import { expect } from "vitest";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import type { Node } from "#sdk/compile/graph/node.ts";
import { verifyGraph } from "#sdk/compile/graph/verify-graph.ts";
import { toOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { encodeModel } from "#sdk/compile/proto/encode-model.ts";
import { toFp16 } from "#sdk/compile/quantize/fp16/to-fp16.ts";
import { roundedToHalf } from "./rounded-to-half.ts";
import { runGraph } from "./run-graph.ts";
import { rewritings, runModel, type Tensors } from "./run-model.ts";

/** Compares one output of an fp16 model with the same output of the original model. */
interface Distance {
  /** Cosine between the two outputs. */
  readonly cosine: number;
  /** Largest difference of two elements at the same index, divided by the largest magnitude in the original. */
  readonly difference: number;
}

/** Returns true if the elements of this token are compared. Default: true for every token. */
export type Counts = (run: number, row: number, token: number) => boolean;

/**
 * Converts a graph to fp16 and compares the results of both graphs. Expects that the fp16 graph is valid, has the
 * inputs and outputs of the original, has no unnecessary casts, and computes finite values wherever the original does.
 *
 * @param feeds inputs for both graphs. The fp16 graph runs with and without onnxruntime's optimizations, and once more
 * with all values rounded to float16.
 * @returns the fp16 graph, and the minimum cosine and maximum difference over all outputs of all runs
 */
export async function halved(graph: Graph, feeds: readonly Tensors[], counts: Counts = () => true) {
  const half = toFp16(graph);
  verifyGraph(half);
  expect(declared(half)).toEqual(declared(graph));
  expect(needlessCasts(half)).toEqual([]);
  const wanted = await runGraph(graph, feeds);
  const rounded = roundedToHalf(graph);
  const wantedRounded = hasHalf(rounded) ? await runGraph(rounded, feeds) : wanted;
  const bytes = encodeModel(toOnnx(half)).finish();
  const distances: Distance[] = [];
  for (const way of [...rewritings, "rounded"] as const) {
    const found = await (way === "rounded" ? runGraph(roundedToHalf(half), feeds) : runModel(bytes, feeds, way));
    for (const [run, outputs] of (way === "rounded" ? wantedRounded : wanted).entries()) {
      for (const [name, output] of Object.entries(outputs)) {
        const at = `${name} of run ${run}, ${way}`;
        const other = found[run]?.[name];
        expect([other?.type, other?.dims], at).toEqual([output.type, output.dims]);
        distances.push(distance(numbers(other?.data), numbers(output.data), at, countsOf(output.dims, run, counts)));
      }
    }
  }
  return {
    graph: half,
    cosine: Math.min(...distances.map(({ cosine }) => cosine)),
    difference: Math.max(...distances.map(({ difference }) => difference)),
  };
}

/** Returns true if `roundedToHalf` found a float16 value in the graph. Otherwise it changed nothing. */
const hasHalf = (rounded: Graph): boolean =>
  [...rounded.inputs, ...[...rounded.nodes].flatMap(({ outputs }) => outputs)].some(
    (value) => value?.dtype === "float16",
  );

/** Returns the casts between float32 and float16. */
export const floatCasts = (graph: Graph): Node[] =>
  [...graph.nodes].filter(
    (node) =>
      node.is("Cast") && [node.inputs[0], node.output].every((value) => /^float(16|32)$/.test(value?.dtype ?? "")),
  );

/**
 * Lists unnecessary casts: casts of another cast's result, casts of constants, and repeated casts of the same value.
 */
function needlessCasts(graph: Graph): string[] {
  const casts = floatCasts(graph);
  const first = new Map(casts.toReversed().map((node) => [`${node.inputs[0]?.name} as ${node.output.dtype}`, node]));
  return casts
    .filter(({ inputs: [value] }) => value?.isConstant || casts.some((node) => node === value?.producer))
    .concat(casts.filter((node) => ![...first.values()].includes(node)))
    .map(({ name }) => name);
}

/** Returns the declarations of inputs and outputs. Undeclared outputs have only a name. */
function declared(graph: Graph) {
  const { input } = toOnnx(graph).graph ?? {};
  return { input, output: graph.outputs.map(({ name, declaration }) => declaration ?? name) };
}

const numbers = (data: Tensors[string]["data"] | undefined) => Array.from(data as Float32Array, Number);

function countsOf(dims: readonly number[], run: number, counts: Counts): (i: number) => boolean {
  const perRow = dims.slice(1).reduce((product, size) => product * size, 1);
  const perToken = dims.slice(2).reduce((product, size) => product * size, 1);
  return (i) => counts(run, Math.floor(i / perRow), Math.floor((i % perRow) / perToken));
}

function distance(found: readonly number[], wanted: readonly number[], at: string, counts: (i: number) => boolean) {
  const [sums, largest] = [
    { both: 0, found: 0, wanted: 0 },
    { difference: 0, value: 0 },
  ];
  for (const [i, y] of wanted.entries()) {
    const x = found[i] as number;
    if (!Number.isFinite(y)) continue;
    if (!Number.isFinite(x)) throw new RangeError(`Element ${i} of ${at} is ${x} instead of ${y}.`);
    if (!counts(i)) continue;
    sums.both += x * y;
    sums.found += x * x;
    sums.wanted += y * y;
    largest.difference = Math.max(largest.difference, Math.abs(x - y));
    largest.value = Math.max(largest.value, Math.abs(y));
  }
  const isZero = sums.wanted === 0 && sums.found === 0;
  return {
    cosine: isZero ? 1 : sums.both / Math.sqrt(sums.found * sums.wanted),
    difference: isZero ? 0 : largest.difference / largest.value,
  };
}
