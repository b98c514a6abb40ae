import * as v from "valibot";

// Schemas of config.json keys that several model families share.

/** Refuses a valid config.json that is not supported. `readConfig` then gives the error `checkpoint_unsupported`. */
export const supports = <T>(requirement: (config: T) => boolean, message: string) =>
  v.rawCheck<T>(({ dataset, addIssue }) => {
    if (dataset.typed && !requirement(dataset.value)) addIssue({ message });
  });

/** Schema of an integer in a model's files. */
export const integerFrom = (minimum: number, maximum = Number.POSITIVE_INFINITY) =>
  v.pipe(v.number(), v.integer(), v.minValue(minimum), v.maxValue(maximum));

/** Largest size that ONNX shapes and JavaScript arrays can hold. */
const MAX_SIZE = 2 ** 31 - 1;

/** A positive size. */
export const Count = integerFrom(1, MAX_SIZE);
/**
 * Number of layers, for families whose configuration has a list with one entry per layer. These lists are made before
 * the tensors are checked. Without a maximum, a wrong number in config.json could fill the memory.
 */
export const ListedLayers = v.pipe(Count, v.maxValue(10_000));
/** Number of token types; 0 for encoders without token types. */
export const TypeCount = integerFrom(0, MAX_SIZE);
export const Positive = v.pipe(v.number(), v.gtValue(0));
/** The number that normalizations add to a variance. The edge engine supports values up to 1; models use 1e-12 to 1e-3. */
export const Epsilon = v.pipe(Positive, v.maxValue(1));
/** Maximum length of a ColBERT query or document in tokens. */
export const MarkedLength = v.pipe(Count, v.minValue(4, "there must be room for [CLS], a marker, one token and [SEP]"));
export const MaxPositions = v.pipe(Count, v.minValue(3, "there must be room for [CLS], one token and [SEP]"));

const activationNames = [
  "gelu",
  "gelu_new",
  "gelu_pytorch_tanh",
  "gelu_fast",
  "quick_gelu",
  "relu",
  "silu",
  "swish",
] as const;
/** Name of an activation in transformers. layers.ts has the formulas. */
export type ActivationName = (typeof activationNames)[number];
export const ActivationName = v.picklist(
  activationNames,
  `the activation must be one of ${activationNames.join(", ")}`,
);

/** Keys that every family has. */
export const encoderKeys = {
  vocab_size: Count,
  is_decoder: v.optional(v.literal(false, "decoders (causal attention) are not encoders"), false),
};

/** Keys of config.json for an encoder's sizes. Some families use other names. */
export const sizeKeys = {
  hidden_size: Count,
  num_hidden_layers: Count,
  num_attention_heads: Count,
  intermediate_size: Count,
  max_position_embeddings: MaxPositions,
};

/** Keys of BERT's config.json: sizes and the activation. */
export interface BertSizes {
  readonly model_type: string;
  readonly vocab_size: number;
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly intermediate_size: number;
  readonly max_position_embeddings: number;
  readonly type_vocab_size: number;
  readonly layer_norm_eps: number;
  readonly hidden_act: ActivationName;
}

/**
 * Keys of a rotary embedding, as transformers 5 writes them. Scaled rotary embeddings are refused, because their angles
 * change with the length of the text.
 */
export const RopeParameters = v.object({
  rope_type: v.optional(v.literal("default", "scaled rotary embeddings are not supported so far"), "default"),
  rope_theta: v.nullish(Positive),
  partial_rotary_factor: v.optional(v.literal(1, "only rotary embeddings of whole heads are supported so far"), 1),
});
