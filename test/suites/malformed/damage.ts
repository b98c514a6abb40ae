import { decodeModel } from "../../../sdk/src/build/onnx/decode-model.ts";
import { encodeModel } from "../../../sdk/src/build/onnx/encode-model.ts";
import type { GraphProto } from "../../../sdk/src/build/onnx/proto.ts";
import { toOnnx } from "../../../sdk/src/build/onnx/to-onnx.ts";
import { drawEncoder } from "../random-encoder/draw.ts";
import { addNoise } from "../random-encoder/noise.ts";
import type { EncoderPlan, LayerPlan } from "../random-encoder/plan.ts";
import { Choice, NothingToMutate } from "./choose.ts";
import { mutations } from "./mutations.ts";

const layer: LayerPlan = {
  split: "computed",
  scale: "scores",
  packed: false,
  norms: ["power", "tensorflow"],
  activation: "erf",
  biasFirst: false,
  skipFirst: true,
};
const plan: EncoderPlan = {
  opset: 17,
  heads: 2,
  headSize: 2,
  inner: 6,
  positions: "range",
  types: true,
  mask: "added",
  layers: [layer],
  embeddingNorm: "product",
};

/** Sound models of every form, small enough for damage to hit more than weights. */
const sound: readonly Uint8Array<ArrayBuffer>[] = [
  plan,
  { ...plan, opset: 14, positions: "stored", mask: "selected", layers: [{ ...layer, split: "kept", packed: true }] },
  { ...plan, opset: 18, positions: "rows", types: false, layers: [{ ...layer, split: "batched", activation: "tanh" }] },
  { ...plan, opset: 20, mask: "none", embeddingNorm: "operator", layers: [{ ...layer, activation: "operator" }] },
].map((each, i) => {
  const sketch = drawEncoder(each as EncoderPlan);
  if (i % 2) {
    const kinds = ["reshape to its sizes", "transpose pair", "split and concat", "slice of everything"] as const;
    addNoise(
      sketch,
      kinds.map((kind, j) => ({ kind, at: 0.3 + j / 6, choice: j })),
    );
  }
  return encodeModel(toOnnx(sketch.graph)).finish();
});

export interface Damaged {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What was done to it. */
  readonly how: readonly string[];
}

const PARTS = 64;

/** A damaged model: cut off, with other bytes, or with up to three things wrong that are said in well-formed messages. */
export function damaged(seed: number): Damaged {
  const choice = new Choice(seed);
  const original = choice.of(sound);
  const way = choice.below(8);
  if (way === 0) {
    const part = choice.below(PARTS);
    return {
      bytes: original.slice(0, Math.floor((original.length * part) / PARTS)),
      how: [`cut off at ${part}/${PARTS}`],
    };
  }
  if (way === 1) return { bytes: withOtherBytes(original, choice), how: ["other bytes"] };
  const model = decodeModel(original);
  const how: string[] = [];
  for (let count = 1 + choice.below(3); count > 0; count--) {
    const name = choice.of(Object.keys(mutations));
    try {
      mutations[name]?.(model.graph as GraphProto, choice, model);
      how.push(name);
    } catch (error) {
      if (!(error instanceof NothingToMutate)) throw error;
    }
  }
  return { bytes: encodeModel(model).finish(), how };
}

function withOtherBytes(original: Uint8Array<ArrayBuffer>, choice: Choice): Uint8Array<ArrayBuffer> {
  const bytes = original.slice();
  for (let count = 1 + choice.below(4); count > 0; count--) {
    const at = choice.below(bytes.length);
    bytes[at] = choice.below(2) ? choice.below(256) : (bytes[at] ?? 0) ^ (1 << choice.below(8));
  }
  return bytes;
}

/** A sound model, to be damaged by hand. */
export const soundModel = () => decodeModel((sound[0] as Uint8Array<ArrayBuffer>).slice());
