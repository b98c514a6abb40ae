import { MAX_HEAD_SIZE, TILE_OUTPUTS } from "../../runtime/engine/wasm/constants/tiles.ts";
import type { Step } from "../../runtime/engine/wasm/ops/index.ts";
import { type WeightGroup, weightBytes, weightGroups } from "../../runtime/engine/wasm/ops/linear.ts";
import { levelRowBytes } from "../../runtime/engine/wasm/ops/lookup.ts";
import type { PositionTerms, PositionWeights } from "../../runtime/engine/wasm/ops/position-terms.ts";
import { PROGRAM_VERSION } from "../../runtime/engine/wasm/run/program.ts";
import type { ProgramValue } from "../../runtime/engine/wasm/run/values.ts";
import type { Tensor } from "../graph/tensor.ts";
import type { ProgramOutline } from "./write-model-file.ts";

/** The sizes of an encoder that its program depends on. */
export interface EncoderShape {
  readonly layers: number;
  readonly hidden: number;
  readonly feedForward: number;
  readonly vocabulary: number;
  readonly heads: number;
  readonly maxTokens: number;
  /** Whether the activation is multiplied by an up projection. */
  readonly gated: boolean;
  /** Whether the model takes pairs of texts. */
  readonly pairs: boolean;
  /**
   * How attention knows positions: a table that is added to the token embeddings, a rotary embedding, biases for distances (ALiBi), or
   * position keys and queries for this number of buckets (DeBERTa).
   */
  readonly positions: "table" | "rotary" | "distances" | { readonly buckets: number };
  /** Width of the token embedding table, if it is not `hidden`. */
  readonly embedding?: number;
  /** Number of different sets of layer weights. Default: each layer has its own. */
  readonly groups?: number;
}

/** Bits of the weights of linear layers, and of the token embedding table. */
export interface WeightForm {
  readonly tableBits: 8 | 4;
  readonly weightBits: 8 | 4;
}

const roundedUp = (size: number, multiple: number): number => Math.ceil(size / multiple) * multiple;

/**
 * Returns sizes that the engine can run. Those of nearly all encoders stay as they are; others are rounded up, because an encoder that the
 * engine cannot run has an estimate too.
 */
function supported(shape: EncoderShape): EncoderShape & { readonly size: number; readonly embedding: number } {
  const size = Math.min(MAX_HEAD_SIZE, roundedUp(shape.hidden / shape.heads, 8));
  const heads = Math.ceil(shape.hidden / size);
  const { positions, embedding = shape.hidden } = shape;
  return {
    ...shape,
    ...{ size, heads, hidden: heads * size, feedForward: roundedUp(shape.feedForward, 4) },
    embedding: embedding === shape.hidden ? heads * size : roundedUp(embedding, 4),
    positions: typeof positions === "string" ? positions : { buckets: roundedUp(positions.buckets, TILE_OUTPUTS) },
  };
}

/** Describes the program that `lowerGraph` makes of an encoder without a task head, from its sizes alone. */
export function outlineEncoder(shape: EncoderShape, form: WeightForm): ProgramOutline {
  const { layers, hidden, feedForward, vocabulary, maxTokens, positions, ...others } = supported(shape);
  const { heads, size, embedding, groups = layers } = others;
  const { weightBits } = form;
  // Rows that are not whole groups of 32 numbers stay in 8 bits.
  const tableBits = embedding % 32 === 0 ? form.tableBits : 8;
  const values: ProgramValue[] = [];
  const steps: Step[] = [];
  const tensors = new Map<string, Pick<Tensor, "dtype" | "shape">>();

  const value = (width: number, type: ProgramValue["type"] = "f32") => values.push({ width, of: "token", type }) - 1;
  const widthOf = (at: number) => (values[at] as ProgramValue).width;
  const store = (name: string, dtype: Tensor["dtype"], ...sizes: number[]) => {
    tensors.set(name, { dtype, shape: sizes });
    return name;
  };
  const groupOf = (inputs: number): WeightGroup | undefined =>
    weightBits === 8 ? undefined : weightGroups.find((group) => inputs % group === 0);
  const quantize = (x: number, name: string) => {
    const width = widthOf(x);
    const factors = store(`${name}.smoothed.row`, "float32", width);
    const out = value(width, "i8");
    steps.push({ op: "quantize", x, factors, out });
    return out;
  };
  const linear = (x: number, outputs: number, name: string) => {
    const inputs = widthOf(x);
    const group = groupOf(inputs);
    const rows = roundedUp(outputs, TILE_OUTPUTS);
    const out = value(outputs);
    steps.push({
      ...{ op: "linearInt8", x, weight: store(`${name}.smoothed.uint8`, "uint8", weightBytes(inputs, outputs, group)) },
      ...(group && { group }),
      scales: store(`${name}.smoothed.scale`, "float32", rows),
      zeroPoints: store(`${name}.smoothed.zero`, "int32", rows),
      sums: store(`${name}.smoothed.uint8.sums`, "int32", rows),
      ...{ bias: store(`${name}.bias`, "float32", rows), out },
    });
    return out;
  };
  const layerNorm = (x: number, name: string, skip?: Extract<Step, { op: "layerNorm" }>["skip"]) => {
    const width = widthOf(x);
    const [gamma, beta] = [store(`${name}.gamma`, "float32", width), store(`${name}.beta`, "float32", width)];
    const out = value(width);
    steps.push({ op: "layerNorm", x, ...(skip && { skip }), gamma, beta, epsilon: 1e-12, out });
    return out;
  };
  const whole = (at: number) => ({ value: at, column: 0 });

  /** Adds the steps of attention, and returns the value with the contexts of all heads. */
  const attention = (x: number, name: string) => {
    if (positions === "table" || positions === "distances") {
      const all = linear(x, 3 * hidden, `${name}.qkv`);
      const out = value(hidden);
      const bias =
        positions === "distances"
          ? { table: store("attention.biases", "float32", heads, 2 * maxTokens - 1), heads }
          : undefined;
      const [query, key, last] = [0, 1, 2].map((part) => ({ value: all, column: part * hidden })) as [
        ReturnType<typeof whole>,
        ReturnType<typeof whole>,
        ReturnType<typeof whole>,
      ];
      steps.push({
        ...{ op: "attention", query, key, value: last, heads, size, scale: size ** -0.5 },
        ...{ ...(bias && { bias }), out },
      });
      return out;
    }
    const [query, key, last] = ["query", "key", "value"].map((part) => linear(x, hidden, `${name}.${part}`)) as [
      number,
      number,
      number,
    ];
    if (positions === "rotary") {
      for (const rotated of [query, key]) {
        steps.push({
          ...{ op: "rotate", x: whole(rotated), width: hidden, size },
          cosines: store("rotated.cosines", "float32", maxTokens, size / 2),
          sines: store("rotated.sines", "float32", maxTokens, size / 2),
        });
      }
    }
    const out = value(hidden);
    steps.push({
      ...{ op: "attention", query: whole(query), key: whole(key), value: whole(last), heads, size },
      ...{ scale: size ** -0.5, ...(positions !== "rotary" && { positions: terms(positions.buckets, name) }), out },
    });
    return out;
  };
  const terms = (buckets: number, name: string): PositionTerms => {
    const rows = heads * buckets;
    const weights = (part: string): PositionWeights => ({
      weight: store(`${name}.${part}.uint8`, "uint8", rows * size),
      scales: store(`${name}.${part}.scale`, "float32", rows),
      zeroPoints: store(`${name}.${part}.zero`, "int32", rows),
      sums: store(`${name}.${part}.sums`, "int32", rows),
    });
    return {
      bucketOf: store("by_distance", "int32", 2 * maxTokens - 1),
      ...{ buckets, keys: weights("keys"), queries: weights("queries") },
      zeros: store("zeros", "float32", buckets),
    };
  };

  const rowBytes = tableBits === 8 ? embedding : levelRowBytes(embedding);
  const tokens = value(embedding);
  steps.push({
    ...{ op: "lookup", table: store("token_table", "uint8", vocabulary, rowBytes) },
    ...{ scales: store("token_table.scales", "float32", vocabulary), bits: tableBits, out: tokens },
  });
  const table = (name: string) => store(name, "float32", maxTokens, embedding);
  const skip =
    positions === "table"
      ? { positions: table("positions"), ...(shape.pairs && { second: table("second_positions") }) }
      : undefined;
  let x = layerNorm(tokens, "embeddings", skip);
  if (embedding !== hidden) x = linear(quantize(x, "projection"), hidden, "projection");
  for (let layer = 0; layer < layers; layer++) {
    const name = `layer.${Math.floor((layer * groups) / layers)}`;
    const contexts = attention(quantize(x, `${name}.attention`), `${name}.attention`);
    const attended = linear(quantize(contexts, `${name}.attention.output`), hidden, `${name}.attention.output`);
    const middle = layerNorm(attended, `${name}.attention.norm`, { value: x });
    const input = quantize(middle, `${name}.intermediate`);
    let inner = linear(input, feedForward, `${name}.intermediate`);
    steps.push({ op: "activation", kind: "gelu", x: whole(inner), out: inner });
    if (shape.gated) {
      const up = linear(input, feedForward, `${name}.up`);
      const gated = value(feedForward);
      steps.push({ op: "multiply", x: whole(inner), y: whole(up), out: gated });
      inner = gated;
    }
    const output = linear(quantize(inner, `${name}.output`), hidden, `${name}.output`);
    x = layerNorm(output, `${name}.norm`, { value: middle });
  }
  const sizes = { maxTokens, vocabulary, ...(shape.pairs && { pairs: true }) };
  return { program: { version: PROGRAM_VERSION, values, steps, output: x, ...sizes }, tensors };
}
