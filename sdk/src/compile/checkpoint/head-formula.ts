import * as v from "valibot";
import type { ActivationName } from "./config-keys.ts";

/**
 * A family's classification head. It computes output(norm(activation(dense(pooled hidden states)))). `dense`, `norm`
 * and `output` give the names of its tensors, without `.weight` and `.bias`.
 */
export interface HeadFormula {
  /**
   * Input of the head: the hidden state of the first token, or the mean of the hidden states of all tokens except
   * padding.
   */
  readonly pooling: "cls" | "mean";
  /** Whether the head computes logits for every token, and `pooling` is applied to these logits. */
  readonly poolsLogits: boolean;
  /** @param prefix prefix of the encoder's tensor names; in some families, this layer's name has the same prefix */
  readonly dense: (prefix: string) => string;
  readonly denseBias: boolean;
  readonly activation: ActivationName | "tanh";
  readonly norm: string | undefined;
  readonly output: string;
}

/**
 * Returns the schema of a classification head that has two linear layers and reads only the hidden state of the first
 * token. The schema accepts any config.json, because no key of config.json changes such a head.
 */
export const clsHead = (
  parts: Pick<HeadFormula, "dense" | "activation" | "output">,
): v.GenericSchema<unknown, HeadFormula> =>
  v.pipe(
    v.unknown(),
    v.transform(
      (): HeadFormula => ({ pooling: "cls", poolsLogits: false, denseBias: true, norm: undefined, ...parts }),
    ),
  );

/** BERT's head (https://arxiv.org/abs/1810.04805, section 4.1). `dense` is the pooler of BERT's implementation. */
export const bertHead = clsHead({
  dense: (prefix) => `${prefix}pooler.dense`,
  activation: "tanh",
  output: "classifier",
});

/** RoBERTa's head: BERT's head with other tensor names. */
export const robertaHead = clsHead({
  dense: () => "classifier.dense",
  activation: "tanh",
  output: "classifier.out_proj",
});
