import * as v from "valibot";

/** Bounded by what ONNX shapes and JavaScript arrays can hold. */
const Count = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 31 - 1));
const Epsilon = v.pipe(v.number(), v.gtValue(0));
const Positions = v.pipe(Count, v.minValue(3, "there must be room for [CLS], one token and [SEP]"));

/** Activations by transformers' names; activation.ts has their formulas. */
const activations = [
  "gelu",
  "gelu_new",
  "gelu_pytorch_tanh",
  "gelu_fast",
  "quick_gelu",
  "relu",
  "silu",
  "swish",
] as const;
const Activation = v.picklist(activations, `the activation must be one of ${activations.join(", ")}`);

/** What decides an encoder's computation, under transformers' keys, whatever its family calls them. */
export interface EncoderConfig {
  readonly model_type: string;
  readonly vocab_size: number;
  readonly hidden_size: number;
  /** Width of the embedding tables; a linear map leads to `hidden_size` where it differs. */
  readonly embedding_size: number;
  readonly num_hidden_layers: number;
  /** Sets of weights that the layers share between them, in order; as many as layers where none is shared. */
  readonly num_hidden_groups: number;
  readonly num_attention_heads: number;
  readonly intermediate_size: number;
  /** Rows of the position table. */
  readonly max_position_embeddings: number;
  /** 0 for encoders without token types. */
  readonly type_vocab_size: number;
  readonly layer_norm_eps: number;
  readonly hidden_act: (typeof activations)[number];
  /** Where positions count from the row after it, over tokens that are not it; undefined where they count from 0. */
  readonly position_padding_id: number | undefined;
  /** Buckets of the relative positions that bias scores; undefined without. */
  readonly relative_attention_num_buckets: number | undefined;
}

const NoHead = v.optional(
  v.array(
    v.pipe(
      v.string(),
      v.regex(
        /^(?!.*For(?!MaskedLM$|PreTraining$))/,
        "models with a task head (classifiers, …) are not supported so far",
      ),
    ),
  ),
);

const encoder = {
  architectures: NoHead,
  vocab_size: Count,
  is_decoder: v.optional(v.literal(false, "decoders (causal attention) are not encoders"), false),
};

const bertKeys = {
  ...encoder,
  hidden_size: Count,
  num_hidden_layers: Count,
  num_attention_heads: Count,
  intermediate_size: Count,
  max_position_embeddings: Positions,
  type_vocab_size: v.optional(Count, 2),
  layer_norm_eps: v.optional(Epsilon, 1e-12),
  hidden_act: v.optional(Activation, "gelu"),
  position_embedding_type: v.optional(
    v.literal("absolute", "only absolute position embeddings are supported so far"),
    "absolute",
  ),
};

/** Families by model_type, each with its own keys; inputs to `normalised`. */
const Families = v.variant(
  "model_type",
  [
    v.object({ ...bertKeys, model_type: v.literal("bert") }),
    v.object({ ...bertKeys, model_type: v.literal("electra"), embedding_size: v.optional(Count, 128) }),
    v.object({
      ...bertKeys,
      model_type: v.picklist(["roberta", "xlm-roberta", "camembert"]),
      pad_token_id: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 1),
    }),
    v.object({
      ...encoder,
      model_type: v.literal("distilbert"),
      dim: Count,
      n_layers: Count,
      n_heads: Count,
      hidden_dim: Count,
      max_position_embeddings: Positions,
      activation: v.optional(Activation, "gelu"),
    }),
    v.object({
      ...bertKeys,
      model_type: v.literal("albert"),
      embedding_size: v.optional(Count, 128),
      hidden_act: v.optional(Activation, "gelu_new"),
      num_hidden_groups: v.optional(Count, 1),
      inner_group_num: v.optional(v.literal(1, "only one layer a group is supported so far"), 1),
    }),
    v.object({
      ...encoder,
      model_type: v.literal("mpnet"),
      hidden_size: Count,
      num_hidden_layers: Count,
      num_attention_heads: Count,
      intermediate_size: Count,
      max_position_embeddings: Positions,
      layer_norm_eps: v.optional(Epsilon, 1e-12),
      hidden_act: v.optional(Activation, "gelu"),
      relative_attention_num_buckets: v.optional(v.pipe(Count, v.multipleOf(2)), 32),
    }),
  ],
  ({ expected }) => `only these families are supported so far: ${expected}`,
);

function normalised(config: v.InferOutput<typeof Families>): EncoderConfig {
  switch (config.model_type) {
    case "bert":
      return usual(config);
    case "electra":
      return { ...usual(config), embedding_size: config.embedding_size };
    case "roberta":
    case "xlm-roberta":
    case "camembert":
      return { ...usual(config), position_padding_id: config.pad_token_id };
    case "albert":
      return {
        ...usual(config),
        embedding_size: config.embedding_size,
        num_hidden_groups: config.num_hidden_groups,
      };
    case "distilbert": {
      const { dim: hidden_size, n_layers: num_hidden_layers, n_heads: num_attention_heads } = config;
      const sizes = { hidden_size, num_hidden_layers, num_attention_heads, intermediate_size: config.hidden_dim };
      const { activation: hidden_act } = config;
      return usual({ ...config, ...sizes, hidden_act, type_vocab_size: 0, layer_norm_eps: 1e-12 });
    }
    case "mpnet":
      return {
        ...usual({ ...config, type_vocab_size: 0 }),
        relative_attention_num_buckets: config.relative_attention_num_buckets,
        // transformers fixes it, whatever pad_token_id says.
        position_padding_id: 1,
      };
  }
}

/** BERT's own keys, and the values that say "as BERT" for those that other families add. */
function usual(config: Pick<EncoderConfig, BertKey>): EncoderConfig {
  return {
    model_type: config.model_type,
    vocab_size: config.vocab_size,
    hidden_size: config.hidden_size,
    embedding_size: config.hidden_size,
    num_hidden_layers: config.num_hidden_layers,
    num_hidden_groups: config.num_hidden_layers,
    num_attention_heads: config.num_attention_heads,
    intermediate_size: config.intermediate_size,
    max_position_embeddings: config.max_position_embeddings,
    type_vocab_size: config.type_vocab_size,
    layer_norm_eps: config.layer_norm_eps,
    hidden_act: config.hidden_act,
    position_padding_id: undefined,
    relative_attention_num_buckets: undefined,
  };
}

type BertKey = Exclude<
  keyof EncoderConfig,
  "embedding_size" | "num_hidden_groups" | "position_padding_id" | "relative_attention_num_buckets"
>;

/** config.json of every family that can be imported. */
export const EncoderConfig = v.pipe(
  Families,
  v.transform(normalised),
  v.check(
    (config) => config.hidden_size % config.num_attention_heads === 0,
    "hidden_size must be a multiple of num_attention_heads",
  ),
  v.check(
    (config) => config.num_hidden_layers % config.num_hidden_groups === 0,
    "num_hidden_layers must be a multiple of num_hidden_groups",
  ),
);

/** The longest text: rows of the position table, less those before the first position. */
export const maxTokensOf = ({ max_position_embeddings, position_padding_id }: EncoderConfig): number =>
  max_position_embeddings - (position_padding_id === undefined ? 0 : position_padding_id + 1);
