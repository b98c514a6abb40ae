import { int, type Value } from "../graph/node.ts";
import { int64s, type Tensor, tensor } from "../graph/tensor.ts";
import type { NtkScaling } from "./encoder-config.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { axes, writeRange } from "./layers.ts";

/** Cosines and sines of each position's angles: [1, 1, sequence, size]. Both halves of the last axis are equal. */
export interface Rotation {
  readonly cos: Value;
  readonly sin: Value;
}

/** Angles of a rotary embedding. */
export interface RotaryAngles {
  readonly theta: number;
  readonly scaling: NtkScaling | undefined;
  /** Number of elements of a head. */
  readonly size: number;
}

/**
 * Writes the cosines and sines of a rotary embedding's angles (https://arxiv.org/abs/2104.09864, section 3.4.2):
 * position · theta^(−2i / size), in float32 as in transformers. The graph stores tables of cosines and sines. It
 * does not compute them from angles, because a graph in half precision cannot hold large angles: half-precision numbers
 * just below 1000 are 0.5 apart.
 *
 * @param positions rows of the tables
 * @param ids token ids [batch, sequence]
 */
export function writeRotation(g: GraphWriter, rotary: RotaryAngles, positions: number, ids: Value): Rotation {
  const { theta } = rotary;
  const rows = writeRange(g, `rotary.${theta}.positions`, ids);
  const table = (name: string, of: (angle: number) => number) => {
    const half = g.op(`${name}.half`, "Gather", [g.constant(`${name}.table`, angles(rotary, positions, of)), rows]);
    const whole = g.op(`${name}.halves`, "Concat", [half, half], { axis: int(-1) });
    return g.op(name, "Unsqueeze", [whole, axes(g, 0, 1)]);
  };
  return { cos: table(`rotary.${theta}.cos`, Math.cos), sin: table(`rotary.${theta}.sin`, Math.sin) };
}

/** Applies the function `of` to all angles. Returns [positions, size / 2]. */
function angles(rotary: RotaryAngles, positions: number, of: (angle: number) => number): Tensor {
  const half = rotary.size / 2;
  const frequencies = frequenciesOf(rotary);
  const values = Float32Array.from({ length: positions * half }, (_, at) =>
    of(Math.fround(Math.floor(at / half) * (frequencies[at % half] as number))),
  );
  return tensor("float32", [positions, half], values);
}

/** Returns the angle of position 1 for each pair of elements, in float32: [size / 2]. */
function frequenciesOf({ theta, scaling, size }: RotaryAngles): Float32Array {
  const { fround } = Math;
  const base = scaling && scaling.mixedExponent === undefined ? theta * scaling.factor : theta;
  const frequencies = Float32Array.from(
    { length: size / 2 },
    (_, i) => 1 / fround(fround(base) ** fround((2 * i) / size)),
  );
  if (!scaling) return frequencies;
  const { factor, mixedExponent } = scaling;
  if (mixedExponent === undefined) return frequencies.map((frequency) => frequency / fround(factor ** (2 / size)));
  const slope = fround(fround(Math.log(factor)) / fround((size / 2) ** mixedExponent));
  return frequencies.map(
    (frequency, i) => frequency / fround(Math.exp(fround(slope * fround((i + 1) ** mixedExponent)))),
  );
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
