import type { Value } from "../../../sdk/src/build/graph/node.ts";
import { tensor } from "../../../sdk/src/build/graph/tensor.ts";
import { CAST, Sketch } from "../sketch.ts";
import { drawNorm } from "./norms.ts";
import type { EncoderPlan, LayerPlan } from "./plan.ts";

export const VOCABULARY = 11;
/** Rows of the table of positions: no text may be longer. */
export const MAX_LENGTH = 9;

const LOWEST = -3.4e38;

/** Draws an encoder. Its inputs are input_ids, attention_mask and token_type_ids [batch, sequence], as far as it has them. */
export function drawEncoder(plan: EncoderPlan): Sketch {
  const sketch = new Sketch(plan.opset);
  const ids = sketch.input("input_ids", ["batch", "sequence"], "int64");
  const mask = plan.mask === "none" ? undefined : sketch.input("attention_mask", ["batch", "sequence"], "int64");
  const encoder = new Encoder(sketch, plan, mask);
  let states = encoder.embeddings(ids);
  for (const layer of plan.layers) states = encoder.layer(layer, states);
  sketch.output(states, "last_hidden_state");
  return sketch;
}

class Encoder {
  readonly #sketch: Sketch;
  readonly #plan: EncoderPlan;
  readonly #width: number;
  /** Added to scores, or the condition under which they stay [batch, 1, 1, sequence]. */
  readonly #mask: Value | undefined;

  constructor(sketch: Sketch, plan: EncoderPlan, mask: Value | undefined) {
    this.#sketch = sketch;
    this.#plan = plan;
    this.#width = plan.heads * plan.headSize;
    this.#mask = mask && this.#extended(mask);
  }

  #op: Sketch["op"] = (...call) => this.#sketch.op(...call);

  embeddings(ids: Value): Value {
    const words = this.#op("Gather", [this.#sketch.random([VOCABULARY, this.#width]), ids]);
    const sum = this.#op("Add", [words, this.#positions(ids)]);
    const all = this.#plan.types ? this.#op("Add", [this.#types(), sum]) : sum;
    return this.#norm(this.#plan.embeddingNorm, all);
  }

  layer(plan: LayerPlan, x: Value): Value {
    const attended = this.#dense(plan, this.#attention(plan, x), this.#width, this.#width);
    const between = this.#norm(plan.norms[0], this.#residual(plan, x, attended));
    const inner = this.#activation(plan, this.#dense(plan, between, this.#width, this.#plan.inner));
    const outer = this.#dense(plan, inner, this.#plan.inner, this.#width);
    return this.#norm(plan.norms[1], this.#residual(plan, between, outer));
  }

  #norm(form: EncoderPlan["embeddingNorm"], x: Value): Value {
    return drawNorm(this.#sketch, this.#plan.opset, form, x, this.#width);
  }

  #types(): Value {
    const types = this.#sketch.input("token_type_ids", ["batch", "sequence"], "int64");
    return this.#op("Gather", [this.#sketch.random([2, this.#width]), types]);
  }

  #positions(ids: Value): Value {
    const table = this.#sketch.random([MAX_LENGTH, this.#width]);
    const length = this.#op("Gather", [this.#op("Shape", [ids]), this.#sketch.index(1)]);
    const end = () => this.#op("Unsqueeze", [length, [0]]);
    switch (this.#plan.positions) {
      case "range": {
        const range = this.#op("Range", [this.#sketch.index(0), length, this.#sketch.index(1)]);
        return this.#op("Gather", [table, this.#op("Unsqueeze", [range, [0]])]);
      }
      case "stored": {
        const numbers = BigInt64Array.from({ length: MAX_LENGTH }, (_, i) => BigInt(i));
        const stored = this.#sketch.constant(tensor("int64", [1, MAX_LENGTH], numbers));
        return this.#op("Gather", [table, this.#op("Slice", [stored, [0], end(), [1]])]);
      }
      case "rows":
        return this.#op("Unsqueeze", [this.#op("Slice", [table, [0], end(), [0]]), [0]]);
    }
  }

  #extended(mask: Value): Value {
    const wide = this.#op("Unsqueeze", [mask, [1, 2]]);
    if (this.#plan.mask === "selected") return this.#op("Cast", [wide], { to: CAST.bool });
    const shown = this.#op("Cast", [wide], { to: CAST.float32 });
    return this.#op("Mul", [this.#op("Sub", [1, shown]), -10_000]);
  }

  #masked(scores: Value): Value {
    if (!this.#mask) return scores;
    return this.#plan.mask === "added"
      ? this.#op("Add", [scores, this.#mask])
      : this.#op("Where", [this.#mask, scores, LOWEST]);
  }

  #dense({ biasFirst }: LayerPlan, x: Value, from: number, to: number): Value {
    const product = this.#op("MatMul", [x, this.#sketch.random([from, to])]);
    const bias = this.#sketch.random([to]);
    return this.#op("Add", biasFirst ? [bias, product] : [product, bias]);
  }

  #residual = ({ skipFirst }: LayerPlan, x: Value, y: Value): Value => this.#op("Add", skipFirst ? [x, y] : [y, x]);

  #attention(plan: LayerPlan, x: Value): Value {
    const { headSize } = this.#plan;
    const [q, k, v] = this.#projections(plan, x).map((each) => this.#split(plan, x, each)) as [Value, Value, Value];
    const scale = 1 / Math.sqrt(headSize);
    const [queries, keys] =
      plan.scale === "both"
        ? [q, k].map((each) => this.#op("Mul", [each, Math.sqrt(scale)]))
        : [plan.scale === "queries" ? this.#op("Mul", [q, scale]) : q, k];
    const isBatched = plan.split === "batched";
    const turned = this.#op("Transpose", [keys], { perm: isBatched ? [0, 2, 1] : [0, 1, 3, 2] });
    const product = this.#op("MatMul", [queries, turned]);
    const scores = plan.scale === "scores" ? this.#op("Div", [product, 1 / scale]) : product;
    const probabilities = isBatched ? this.#batchedSoftmax(x, scores) : this.#softmax(this.#masked(scores));
    return this.#merge(plan, x, this.#op("MatMul", [probabilities, v]));
  }

  #projections(plan: LayerPlan, x: Value): readonly Value[] {
    if (!plan.packed) return [0, 1, 2].map(() => this.#dense(plan, x, this.#width, this.#width));
    const packed = this.#dense(plan, x, this.#width, 3 * this.#width);
    const sizes = [this.#width, this.#width, this.#width];
    const node = this.#sketch.node("Split", [packed, sizes], { axis: -1 }, { outputs: ["q", "k", "v"] });
    return node.outputs as readonly Value[];
  }

  #softmax = (scores: Value): Value => this.#op("Softmax", [scores], { axis: -1 });

  /** Masks are added to scores [batch, heads, sequence, sequence] even where products are of [batch · heads, …]. */
  #batchedSoftmax(x: Value, scores: Value): Value {
    const { heads } = this.#plan;
    const size = this.#sizeOf(x, 1);
    const four = this.#op("Concat", [[-1, heads], size, size], { axis: 0 });
    const masked = this.#masked(this.#op("Reshape", [scores, four]));
    return this.#softmax(this.#op("Reshape", [masked, this.#op("Concat", [[-1], size, size], { axis: 0 })]));
  }

  /** [batch, sequence, heads · size] → [batch, heads, sequence, size], or with batch and heads as one axis. */
  #split(plan: LayerPlan, x: Value, value: Value): Value {
    const { heads, headSize } = this.#plan;
    const target =
      plan.split === "computed"
        ? this.#op("Concat", [this.#sizeOf(x, 0), this.#sizeOf(x, 1), [heads, headSize]], { axis: 0 })
        : [0, 0, heads, headSize];
    const split = this.#op("Transpose", [this.#op("Reshape", [value, target])], { perm: [0, 2, 1, 3] });
    if (plan.split !== "batched") return split;
    return this.#op("Reshape", [split, this.#op("Concat", [[-1], this.#sizeOf(x, 1), [headSize]], { axis: 0 })]);
  }

  #merge(plan: LayerPlan, x: Value, context: Value): Value {
    const { heads, headSize } = this.#plan;
    const target = () => this.#op("Concat", [[-1, heads], this.#sizeOf(x, 1), [headSize]], { axis: 0 });
    const four = plan.split === "batched" ? this.#op("Reshape", [context, target()]) : context;
    return this.#op("Reshape", [this.#op("Transpose", [four], { perm: [0, 2, 1, 3] }), [0, 0, this.#width]]);
  }

  #sizeOf = (x: Value, axis: number): Value => this.#op("Gather", [this.#op("Shape", [x]), [axis]]);

  #activation({ activation }: LayerPlan, x: Value): Value {
    const erf = () => this.#op("Add", [this.#op("Erf", [this.#op("Div", [x, Math.SQRT2])]), 1]);
    const tanh = (inner: Value) => this.#op("Add", [1, this.#op("Tanh", [inner])]);
    switch (this.#plan.opset < 20 && activation === "operator" ? "erf" : activation) {
      case "relu":
        return this.#op("Relu", [x]);
      case "operator":
        return this.#op("Gelu", [x]);
      case "erf":
        return this.#op("Mul", [this.#op("Mul", [x, erf()]), 0.5]);
      case "erf last":
        return this.#op("Mul", [this.#op("Mul", [0.5, x]), erf()]);
      case "tanh": {
        const cube = this.#op("Mul", [this.#op("Mul", [x, x]), this.#op("Mul", [x, 0.044715])]);
        const inner = this.#op("Mul", [this.#op("Add", [x, cube]), Math.sqrt(2 / Math.PI)]);
        return this.#op("Mul", [x, this.#op("Mul", [tanh(inner), 0.5])]);
      }
      case "tanh of powers": {
        const cube = this.#op("Mul", [0.044715, this.#op("Pow", [x, 3])]);
        const inner = this.#op("Mul", [Math.sqrt(2 / Math.PI), this.#op("Add", [x, cube])]);
        return this.#op("Mul", [this.#op("Mul", [0.5, x]), tanh(inner)]);
      }
    }
  }
}
