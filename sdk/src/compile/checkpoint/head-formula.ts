import * as v from "valibot";
import type { ActivationName } from "./config-keys.ts";
import type { Head } from "./task-head.ts";

/** Layers between the hidden states and the output layer: norm(activation(dense(x))). */
export interface HeadTransform {
  /**
   * Returns the name of the dense layer.
   *
   * @param prefix prefix of the encoder's tensor names; in some families, the name of the dense layer has it too
   */
  readonly dense: (prefix: string) => string;
  readonly denseBias: boolean;
  /** Width of the result: the hidden size or the embedding size. */
  readonly width: "hidden" | "embedding";
  /** Activation after the dense layer; undefined for the encoder's own activation. */
  readonly activation: ActivationName | "tanh" | undefined;
  readonly norm: string | undefined;
}

/** A linear layer that projects vectors: activation(linear(x)), or activation(linear(x)) + residual. */
export interface DenseLayer {
  /** Name of the linear layer's tensors. */
  readonly name: string;
  readonly inputs: number;
  readonly outputs: number;
  readonly hasBias: boolean;
  /** Activation after the linear layer; undefined for no activation. */
  readonly activation: ActivationName | "tanh" | undefined;
  /** Residual that is added: x, or the product of x and the weight matrix with this name; undefined for no residual. */
  readonly residual: "x" | { readonly name: string } | undefined;
}

/**
 * The layers of a task head. They compute output(transform(projections(hidden states))). Names of tensors are without
 * `.weight` and `.bias`.
 */
export interface HeadFormula {
  /**
   * Pooling of the tokens of a text: `cls` takes the first token, `mean` takes the mean of all tokens except padding.
   * undefined for heads that compute logits for each token.
   */
  readonly pooling: "cls" | "mean" | undefined;
  /** Whether the head computes logits for every token, and `pooling` is applied to these logits. */
  readonly poolsLogits: boolean;
  /** undefined for heads that are one linear layer. */
  readonly transform: HeadTransform | undefined;
  /** Projections of hidden states, in order. Default: none */
  readonly projections?: readonly DenseLayer[] | undefined;
  /** undefined for heads that are only projections. */
  readonly output: HeadOutput | undefined;
}

/** Names of the output layer's tensors. */
export interface HeadOutput {
  readonly name: string;
  /** Name of the bias with its suffix, if it is not `<name>.bias`; undefined if the layer has no bias. */
  readonly bias: string | undefined;
  /** Whether the layer uses the token embedding table as its weight if the checkpoint has no weight for the layer. */
  readonly isTied: boolean;
}

/** Translates the keys of config.json that configure a head. */
export type HeadSchema = v.GenericSchema<unknown, HeadFormula>;

/** The heads of a family. Heads that the family does not have are undefined. */
export type FamilyHeads = Readonly<Partial<Record<Head, HeadSchema>>>;

/** Returns the schema of a head that no key of config.json changes. */
export const fixedHead = (formula: HeadFormula): HeadSchema =>
  v.pipe(
    v.unknown(),
    v.transform(() => formula),
  );

/** An output layer with tensors `<name>.weight` and `<name>.bias`. */
export const outputLayer = (name: string): HeadOutput => ({ name, bias: `${name}.bias`, isTied: false });

/** A head of one linear layer that computes logits for each token. */
export const linearHead = (name: string): HeadFormula => ({
  pooling: undefined,
  poolsLogits: false,
  transform: undefined,
  output: outputLayer(name),
});

/** Heads that compute logits for each token, as most families have them. */
export const tokenHeads = {
  "token-classification": fixedHead(linearHead("classifier")),
  "question-answering": fixedHead(linearHead("qa_outputs")),
} as const satisfies FamilyHeads;

/** A classification head that reads only the hidden state of the first token. */
export const clsHead = (transform: Pick<HeadTransform, "dense" | "activation">, output: string): HeadFormula => ({
  pooling: "cls",
  poolsLogits: false,
  transform: { denseBias: true, width: "hidden", norm: undefined, ...transform },
  output: outputLayer(output),
});

/** BERT's head (https://arxiv.org/abs/1810.04805, section 4.1). `dense` is the pooler of BERT's implementation. */
export const bertClassifier = fixedHead(
  clsHead({ dense: (prefix) => `${prefix}pooler.dense`, activation: "tanh" }, "classifier"),
);

/** RoBERTa's head: BERT's head with other tensor names. */
export const robertaClassifier = fixedHead(
  clsHead({ dense: () => "classifier.dense", activation: "tanh" }, "classifier.out_proj"),
);

interface LanguageModelNames {
  readonly dense: string;
  readonly norm: string;
  /** Name of the output layer. */
  readonly output: string;
  /** Name of the output layer's bias, with its suffix. */
  readonly bias: string;
}

/**
 * A language-model head: a logit for each token of the vocabulary. The token embedding table is the weight of the output
 * layer, unless the checkpoint has a separate weight for this layer.
 */
export const languageModel = (
  { dense, norm, output, bias }: LanguageModelNames,
  { activation, width = "hidden" }: Partial<Pick<HeadTransform, "activation" | "width">> = {},
): HeadFormula => ({
  pooling: undefined,
  poolsLogits: false,
  transform: { dense: () => dense, denseBias: true, width, activation, norm },
  output: { name: output, bias, isTied: true },
});

/** BERT's language-model head (https://arxiv.org/abs/1810.04805, section 3.1). */
export const bertLanguageModel = languageModel({
  dense: "cls.predictions.transform.dense",
  norm: "cls.predictions.transform.LayerNorm",
  output: "cls.predictions.decoder",
  bias: "cls.predictions.bias",
});

/** RoBERTa's language-model head. Its activation is GELU, whatever the encoder's is. */
export const robertaLanguageModel = languageModel(
  { dense: "lm_head.dense", norm: "lm_head.layer_norm", output: "lm_head.decoder", bias: "lm_head.bias" },
  { activation: "gelu" },
);
