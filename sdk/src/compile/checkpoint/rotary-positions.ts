import { int } from "../graph/attribute.ts";
import type { Value } from "../graph/node.ts";
import { int64s, type Tensor, tensor } from "../graph/tensor.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { axes, writeRange } from "./positions.ts";

/** Cosines and sines of each position's angles: [1, 1, sequence, size]. Both halves of the last axis are equal. */
export interface Rotation {
  readonly cos: Value;
  readonly sin: Value;
}

/**
 * Writes the cosines and sines of a rotary embedding's angles (https://arxiv.org/abs/2104.09864, section 3.4.2):
 * position · theta^(−2i / size), in float32 as in transformers. The graph stores tables of cosines and sines. It
 * does not compute them from angles, because a graph in half precision cannot hold large angles: half-precision numbers
 * just below 1000 are 0.5 apart.
 *
 * @param size elements of a head
 * @param positions rows of the tables
 * @param ids token ids [batch, sequence]
 */
export function writeRotation(g: GraphWriter, theta: number, size: number, positions: number, ids: Value): Rotation {
  const rows = writeRange(g, `rotary.${theta}.positions`, ids);
  const table = (name: string, of: (angle: number) => number) => {
    const half = g.op(`${name}.half`, "Gather", [
      g.constant(`${name}.table`, angles(theta, size, positions, of)),
      rows,
    ]);
    const whole = g.op(`${name}.halves`, "Concat", [half, half], { axis: int(-1) });
    return g.op(name, "Unsqueeze", [whole, axes(g, 0, 1)]);
  };
  return { cos: table(`rotary.${theta}.cos`, Math.cos), sin: table(`rotary.${theta}.sin`, Math.sin) };
}

/** Applies the function `of` to all angles. Returns [positions, size / 2]. */
function angles(theta: number, size: number, positions: number, of: (angle: number) => number): Tensor {
  const { fround } = Math;
  const half = size / 2;
  const frequencies = Float32Array.from({ length: half }, (_, i) => 1 / fround(theta ** fround((2 * i) / size)));
  const values = Float32Array.from({ length: positions * half }, (_, at) =>
    of(fround(Math.floor(at / half) * (frequencies[at % half] as number))),
  );
  return tensor("float32", [positions, half], values);
}

/**
 * Writes x · cos + rotate(x) · sin, where rotate([a b]) = [−b a] for the two halves of each head.
 *
 * @param x [batch, heads, sequence, size]
 */
export function writeRotated(g: GraphWriter, name: string, x: Value, size: number, { cos, sin }: Rotation): Value {
  const bounds = [0, size / 2, size].map((at) => g.constant(`head_${at}`, int64s(at)));
  const slice = (part: string, at: number) =>
    g.op(`${name}.${part}`, "Slice", [x, bounds[at] as Value, bounds[at + 1] as Value, g.constant("last", int64s(-1))]);
  const [first, second] = [slice("first", 0), slice("second", 1)];
  const rotated = g.op(`${name}.rotated`, "Concat", [g.op(`${name}.negated`, "Neg", [second]), first], {
    axis: int(-1),
  });
  const along = g.op(`${name}.cos`, "Mul", [x, cos]);
  return g.op(name, "Add", [along, g.op(`${name}.sin`, "Mul", [rotated, sin])]);
}
