import { expect, it } from "vitest";
import { runs } from "#test/fixtures/sampled.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import type { Value } from "../graph/node.ts";
import { verifyGraph } from "../graph/verify-graph.ts";
import { fuseGraph } from "./fuse-graph.ts";

const WIDTH = 8;
/** Number of nodes in a chain: too many for recursion, and for a quadratic search. */
const LONG = runs(1_000, 3_000);
/** Time limit that is generous for a busy machine. An exponential search would take hours. */
const TIMEOUT_MS = 30_000;

const normalized = (s: Sketch, x: Value) => s.op("LayerNormalization", [x, s.random([WIDTH], 1), s.random([WIDTH])]);
const repeated = (times: number, x: Value, step: (x: Value) => Value) => {
  let result = x;
  for (let i = 0; i < times; i++) result = step(result);
  return result;
};
const ranked = (rank: number) => Array.from({ length: rank }, (_, axis) => (axis < 2 ? axis + 2 : 1));

it.each<[string, (s: Sketch) => Value]>([
  [
    `${LONG} sums before a normalization`,
    (s) => {
      const bias = s.random([WIDTH]);
      return normalized(
        s,
        repeated(LONG, s.input("x", ["batch", "sequence", WIDTH]), (x) => s.op("Add", [x, bias])),
      );
    },
  ],
  [
    `${LONG} times Reshape after Transpose`,
    (s) =>
      repeated(LONG, s.input("x", [2, 4, WIDTH]), (x) =>
        s.op("Reshape", [s.op("Transpose", [x], { perm: [0, 2, 1] }), [2, 4, WIDTH]]),
      ),
  ],
  [
    `${LONG} times Transpose of a computed tensor with dynamic sizes`,
    (s) =>
      s.op("Reshape", [
        repeated(LONG, s.input("x", ["batch", "sequence", WIDTH]), (x) =>
          s.op("Transpose", [s.op("Mul", [x, 1.0001])], { perm: [0, 2, 1] }),
        ),
        [0, -1],
      ]),
  ],
  ...[9, 12].map((rank): [string, (s: Sketch) => Value] => [
    `Transpose of ${rank} axes`,
    (s) => {
      const back = Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
      const turned = s.op("Transpose", [s.op("Relu", [s.input("x", ranked(rank))])], { perm: back });
      const swapped = s.op("Transpose", [turned], { perm: [1, 0, ...back.toReversed().slice(2)] });
      return s.op("Reshape", [swapped, ranked(rank)]);
    },
  ]),
  [
    "x + x, thirty times",
    (s) =>
      normalized(
        s,
        repeated(30, s.input("x", ["batch", "sequence", WIDTH]), (x) => s.op("Add", [x, x])),
      ),
  ],
])(
  "fuses within seconds: %s",
  async (_, draw) => {
    const s = new Sketch();
    s.output(draw(s));
    const { notes } = await fuseGraph(s.graph);
    verifyGraph(s.graph);
    expect(notes).toEqual([]);
  },
  TIMEOUT_MS,
);
