import { shown } from "../../../../artifact/shown.ts";
import { MAX_HEAD_SIZE, TILE_OUTPUTS } from "../constants/tiles.ts";
import type { CheckedPositionTerms, CheckedSkip, ColumnView, Operation, TokenTable } from "../run/checked-program.ts";
import { ACTIVATIONS, type Program } from "../run/program.ts";
import { type Fields, fieldsOf, finiteNumber, type OperandReader, ProgramFault, sizeOf } from "./operand-reader.ts";

type Sizes = Pick<Program, "maxTokens" | "vocabulary">;

/** A checked operation. `tokenTable` is the token embedding table that the operation reads, if there is one. */
type Parsed = Operation & { readonly tokenTable?: TokenTable };

type Parse = (step: Fields, read: OperandReader, sizes: Sizes) => Parsed;

/**
 * For each operation, the function that checks its operands. The comments in `assembly/` say what each kernel reads and
 * writes.
 */
const operations: { readonly [Op in Operation["op"]]: Parse } = {
  lookup(step, read, { vocabulary }) {
    read.rows("token");
    const width = read.widthOf(step["out"], "out", 4);
    const block = sizeOf(step["block"], "block", 4);
    const { bits } = step;
    if (bits !== 8 && bits !== 4) throw new ProgramFault(`bits is ${shown(bits)}, not 8 or 4`);
    if (width % block !== 0 || (bits === 8 && block !== width))
      throw new ProgramFault("its blocks do not fill a row of the table");
    const rowBytes = (width * bits) / 8;
    const scales = read.floats(step["scales"], "scales", vocabulary * (width / block));
    const table = read.table(step["table"], "table", vocabulary * rowBytes);
    const tokenTable = { offset: table, rowBytes };
    return { op: "lookup", table, scales, bits, block, out: read.out(step["out"], "out", width), tokenTable };
  },
  quantize(step, read) {
    const x = read.whole(step["x"], "x");
    sizeOf(x.width, "width of x", 4);
    const factors = read.optionalFloats(step["factors"], "factors", x.width);
    return { op: "quantize", x, factors, out: read.out(step["out"], "out", x.width, "i8") };
  },
  linearInt8(step, read) {
    const x = read.whole(step["x"], "x", "i8");
    const inputs = sizeOf(x.width, "width of x", 4);
    const width = read.widthOf(step["out"], "out");
    const outputs = TILE_OUTPUTS * Math.ceil(width / TILE_OUTPUTS);
    return {
      op: "linearInt8",
      x,
      weight: read.tensor(step["weight"], "weight", outputs * inputs),
      scales: read.floats(step["scales"], "scales", outputs),
      zeroPoints: read.integers(step["zeroPoints"], "zeroPoints", outputs),
      sums: read.integers(step["sums"], "sums", outputs),
      bias: read.floats(step["bias"], "bias", outputs),
      out: read.out(step["out"], "out", width),
    };
  },
  linearF32(step, read) {
    const x = read.whole(step["x"], "x");
    const inputs = sizeOf(x.width, "width of x", 4);
    const width = read.widthOf(step["out"], "out");
    return {
      op: "linearF32",
      x,
      weight: read.floats(step["weight"], "weight", inputs * width),
      bias: read.floats(step["bias"], "bias", width),
      out: read.out(step["out"], "out", width),
    };
  },
  layerNorm(step, read, sizes) {
    const normalized = normalizationOf(step, read, sizes);
    return { op: "layerNorm", ...normalized, beta: read.optionalFloats(step["beta"], "beta", normalized.out.width) };
  },
  rmsNorm: (step, read, sizes) => ({ op: "rmsNorm", ...normalizationOf(step, read, sizes) }),
  add(step, read, sizes) {
    const x = read.whole(step["x"], "x");
    const width = sizeOf(x.width, "width of x", 4);
    const y = fieldsOf(step["y"], "y");
    const row = read.optionalFloats(y["row"], "y.row", width);
    return {
      op: "add",
      x,
      y: row === undefined ? skipOf(y, read, width, sizes) : { row },
      out: read.out(step["out"], "out", width),
    };
  },
  multiply(step, read) {
    const width = read.widthOf(step["out"], "out", 4);
    const x = read.columns(step["x"], "x", width);
    const row = read.optionalFloats(fieldsOf(step["y"], "y")["row"], "y.row", width);
    const y = row === undefined ? { view: read.columns(step["y"], "y", width) } : { row };
    return { op: "multiply", x, y, out: read.out(step["out"], "out", width) };
  },
  activation(step, read) {
    const kind = ACTIVATIONS.find((known) => known === step["kind"]);
    if (!kind) throw new ProgramFault("its activation is unknown");
    const width = read.widthOf(step["out"], "out", 4);
    return {
      op: "activation",
      kind,
      alpha: finiteNumber(step["alpha"] ?? 0, "alpha"),
      x: read.columns(step["x"], "x", width),
      out: read.out(step["out"], "out", width),
    };
  },
  rotate(step, read, { maxTokens }) {
    read.rows("token");
    const size = sizeOf(step["size"], "size", 8);
    const x = read.columns(step["x"], "x", sizeOf(step["width"], "width", size));
    read.inPlace(x);
    const cosines = read.floats(step["cosines"], "cosines", maxTokens * (size / 2));
    const sines = read.floats(step["sines"], "sines", maxTokens * (size / 2));
    return { op: "rotate", x, size, cosines, sines };
  },
  attention(step, read, { maxTokens }) {
    read.rows("token");
    const size = sizeOf(step["size"], "size", 4);
    if (size > MAX_HEAD_SIZE) throw new ProgramFault(`heads have ${size} numbers, and at most ${MAX_HEAD_SIZE} fit`);
    const heads = sizeOf(step["heads"], "heads");
    const [query, key, value] = ["query", "key", "value"].map((part) =>
      read.columns(step[part], part, heads * size),
    ) as [ColumnView, ColumnView, ColumnView];
    const strides = [query, key, value].map((view) => read.widthOf(view.value, "a value"));
    if (new Set(strides).size > 1) throw new ProgramFault("query, key and value lie in rows of different widths");
    const scale = finiteNumber(step["scale"], "scale");
    // The kernel finds the maximum score of a row before it multiplies the scores by the scale. A negative scale would
    // turn the maximum into the minimum.
    if (!(scale > 0)) throw new ProgramFault("its scale is not positive");
    const bias = step["bias"] === undefined ? undefined : biasOf(fieldsOf(step["bias"], "bias"), read, maxTokens);
    const given = step["positions"] === undefined ? undefined : fieldsOf(step["positions"], "positions");
    if (bias && given) throw new ProgramFault("it has both a bias and positions");
    const positions = given && positionsOf(given, read, heads, size, maxTokens);
    return {
      op: "attention",
      query,
      key,
      value,
      heads,
      size,
      scale,
      bias,
      positions,
      out: read.out(step["out"], "out", heads * size),
    };
  },
  cls(step, read) {
    const x = read.whole(step["x"], "x");
    return { op: "cls", x, out: read.outOfSequences(step["out"], "out", x.width) };
  },
  mean(step, read) {
    const x = read.whole(step["x"], "x");
    return { op: "mean", x, out: read.outOfSequences(step["out"], "out", sizeOf(x.width, "width of x", 4)) };
  },
};

/** Checks one step and resolves its operands. @throws ProgramFault */
export function parseStep(step: Fields, read: OperandReader, sizes: Sizes): Parsed {
  const { op } = step;
  if (typeof op !== "string" || !Object.hasOwn(operations, op)) {
    throw new ProgramFault(`this version has no operation ${shown(op)}`);
  }
  return operations[op as Operation["op"]](step, read, sizes);
}

/** Checks the operands that all normalizations have. */
function normalizationOf(step: Fields, read: OperandReader, sizes: Sizes) {
  const x = read.whole(step["x"], "x");
  const width = sizeOf(x.width, "width of x", 4);
  const skip = step["skip"] === undefined ? undefined : skipOf(fieldsOf(step["skip"], "skip"), read, width, sizes);
  if (step["total"] !== undefined && !skip) throw new ProgramFault("it keeps a total without a skip");
  return {
    x,
    skip,
    gamma: read.floats(step["gamma"], "gamma", width),
    epsilon: epsilonOf(step["epsilon"]),
    total: step["total"] === undefined ? undefined : read.out(step["total"], "total", width),
    out: read.out(step["out"], "out", width),
  };
}

/** The number that is added to a variance. Below 0, its root could be NaN. Models have 1e-12 to 1e-3. */
function epsilonOf(value: unknown): number {
  const epsilon = finiteNumber(value, "epsilon");
  if (epsilon >= 0 && epsilon <= 1) return epsilon;
  throw new ProgramFault(`epsilon is ${epsilon}, which is not between 0 and 1`);
}

function skipOf(skip: Fields, read: OperandReader, width: number, { maxTokens }: Sizes): CheckedSkip {
  if (skip["value"] !== undefined) return { view: read.whole(skip["value"], "the added value", "f32", width) };
  read.rows("token");
  const padding = skip["padding"] === undefined ? undefined : finiteNumber(skip["padding"], "padding");
  const rows = maxTokens + (padding === undefined ? 0 : 1);
  return {
    positions: read.floats(skip["positions"], "positions", rows * width),
    second: read.optionalFloats(skip["second"], "second", rows * width),
    padding,
  };
}

function positionsOf(
  positions: Fields,
  read: OperandReader,
  heads: number,
  size: number,
  maxTokens: number,
): CheckedPositionTerms {
  const buckets = sizeOf(positions["buckets"], "positions.buckets", TILE_OUTPUTS);
  const rows = sizeOf(heads * buckets, "heads · buckets");
  const weightsOf = (part: "keys" | "queries") => {
    if (positions[part] === undefined) return undefined;
    const fields = fieldsOf(positions[part], `positions.${part}`);
    return {
      weight: read.tensor(fields["weight"], `positions.${part}.weight`, rows * size),
      scales: read.floats(fields["scales"], `positions.${part}.scales`, rows),
      zeroPoints: read.integers(fields["zeroPoints"], `positions.${part}.zeroPoints`, rows),
      sums: read.integers(fields["sums"], `positions.${part}.sums`, rows),
    };
  };
  return {
    bucketOf: read.integers(positions["bucketOf"], "positions.bucketOf", 2 * maxTokens - 1),
    buckets,
    keys: weightsOf("keys"),
    queries: weightsOf("queries"),
    zeros: read.floats(positions["zeros"], "positions.zeros", buckets),
  };
}

function biasOf(bias: Fields, read: OperandReader, maxTokens: number): { table: number; heads: number } {
  const heads = sizeOf(bias["heads"], "bias.heads");
  return { table: read.floats(bias["table"], "bias.table", heads * (2 * maxTokens - 1), true), heads };
}
