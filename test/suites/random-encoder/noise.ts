import fc from "fast-check";
import type { Graph } from "../../../sdk/src/build/graph/graph.ts";
import type { Node, Value } from "../../../sdk/src/build/graph/node.ts";
import { float32Scalar } from "../../../sdk/src/build/graph/tensor.ts";
import { inferShapes } from "../../../sdk/src/build/shapes/infer.ts";
import { CAST, type Sketch } from "../sketch.ts";

/** Something that changes a graph and not what it computes. */
export interface Noise {
  readonly kind: Kind;
  /** Which of the graph's edges it is put on, as a fraction of all of them. */
  readonly at: number;
  /** Chooses an axis, a permutation or an order. */
  readonly choice: number;
}

type Kind = keyof typeof kinds;

interface Edge {
  readonly sketch: Sketch;
  readonly graph: Graph;
  readonly value: Value;
  /** Undefined for outputs of the graph. */
  readonly reader: Node | undefined;
  readonly rank: number;
  readonly axis: number;
}

/** Puts something between a value and its reader and returns it; undefined where it does not fit. */
type Insert = (edge: Edge) => Value | undefined;

/** TensorProto.DataType */
const FLOAT64 = 11;

const isNumber = ({ value }: Edge) => value.dtype === "float32";

const kinds = {
  identity: ({ sketch, value }) => sketch.op("Identity", [value]),
  dropout: (edge) => (isNumber(edge) ? edge.sketch.op("Dropout", [edge.value]) : undefined),
  "cast pair": ({ sketch, value }) => {
    const wide = value.dtype === "float32" ? FLOAT64 : value.dtype === "bool" ? CAST.int32 : undefined;
    if (!wide) return undefined;
    const back = value.dtype === "bool" ? CAST.bool : CAST.float32;
    return sketch.op("Cast", [sketch.op("Cast", [value], { to: wide })], { to: back });
  },
  "transpose pair": ({ sketch, value, rank, axis }) => {
    if (rank < 2) return undefined;
    const perm = Array.from({ length: rank }, (_, i) => (i + axis + 1) % rank);
    const inverse = perm.map((_, i) => perm.indexOf(i));
    return sketch.op("Transpose", [sketch.op("Transpose", [value], { perm })], { perm: inverse });
  },
  "reshape to its shape": ({ sketch, value }) => sketch.op("Reshape", [value, sketch.op("Shape", [value])]),
  "reshape to its sizes": ({ sketch, value, rank, axis }) => {
    if (rank === 0) return undefined;
    const size = (at: number) => sketch.op("Gather", [sketch.op("Shape", [value]), [at]]);
    const sizes = Array.from({ length: rank }, (_, at) => (at === axis ? [-1] : size(at)));
    return sketch.op("Reshape", [value, sketch.op("Concat", sizes, { axis: 0 })]);
  },
  "unsqueeze and squeeze": ({ sketch, value, axis }) =>
    sketch.op("Squeeze", [sketch.op("Unsqueeze", [value, [axis]]), [axis]]),
  "copied constant": ({ graph, value }) => value.constant && graph.constant(value.name, value.constant),
  "other order": ({ graph, reader }) => {
    if (!reader || !["Add", "Mul"].includes(reader.opType)) return undefined;
    graph.setInputs(reader, [...reader.inputs].reverse());
    return undefined;
  },
  "times one": (edge) => (isNumber(edge) ? edge.sketch.op("Mul", scalarFirst(edge, 1)) : undefined),
  "plus nothing": (edge) => (isNumber(edge) ? edge.sketch.op("Add", scalarFirst(edge, 0)) : undefined),
  "slice of everything": ({ sketch, value, rank, axis }) =>
    rank === 0 ? undefined : sketch.op("Slice", [value, [0], [Number.MAX_SAFE_INTEGER], [axis]]),
  "concat of one": ({ sketch, value, rank, axis }) => (rank === 0 ? undefined : sketch.op("Concat", [value], { axis })),
  "split and concat": ({ sketch, value, rank }) => {
    const size = value.shape?.at(-1);
    if (rank < 2 || typeof size !== "number" || size < 2) return undefined;
    const parts = sketch.node("Split", [value, [1, size - 1]], { axis: -1 }, { outputs: ["first", "second"] }).outputs;
    return sketch.op("Concat", parts, { axis: -1 });
  },
  "dead node": ({ sketch, value }) => {
    sketch.op("Shape", [sketch.op("Identity", [value])]);
    return undefined;
  },
} satisfies Record<string, Insert>;

const scalarFirst = ({ graph, value, axis }: Edge, number: number): Value[] => {
  const scalar = graph.constant("neutral", float32Scalar(number));
  return axis % 2 ? [scalar, value] : [value, scalar];
};

export const noise: fc.Arbitrary<readonly Noise[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...(Object.keys(kinds) as Kind[])),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    choice: fc.nat(11),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Puts noise on edges of a graph, one after another: later noise may lie on earlier. */
export function addNoise(sketch: Sketch, all: readonly Noise[]): void {
  const { graph } = sketch;
  for (const { kind, at, choice } of all) {
    inferShapes(graph);
    const edges = edgesOf(graph);
    const { reader, place } = edges[Math.floor(at * edges.length)] as (typeof edges)[number];
    const value = reader ? reader.inputs[place] : graph.outputs[place]?.value;
    if (!value?.shape) continue;
    const rank = value.shape.length;
    const insert: Insert = kinds[kind];
    const after = insert({ sketch, graph, value, reader, rank, axis: rank === 0 ? 0 : choice % rank });
    if (!after) continue;
    const output = graph.outputs[place];
    if (reader) {
      graph.setInputs(
        reader,
        reader.inputs.map((input, i) => (i === place ? after : input)),
      );
    } else if (output) output.value = after;
  }
}

/** Every place that a value is read at, by a node or as an output. */
function edgesOf(graph: Graph): { readonly reader: Node | undefined; readonly place: number }[] {
  const read = graph.sorted().flatMap((reader) => reader.inputs.map((value, place) => ({ reader, place, value })));
  return [
    ...read.filter(({ value }) => value !== undefined),
    ...graph.outputs.map((_, place) => ({ reader: undefined, place })),
  ];
}
