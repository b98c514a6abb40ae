import * as v from "valibot";
import type { Activation } from "./config-keys.ts";

/**
 * How a family computes logits from an encoder's states, and where it keeps the tensors; `.weight` and `.bias` follow:
 * output(norm(activation(dense(pooled states)))).
 */
export interface HeadFormula {
  /** What is read of a text: the state of its first token, or the mean of all that its mask shows. */
  readonly pooling: "cls" | "mean";
  /** @param prefix of the encoder's tensors: some families count the map among them */
  readonly dense: (prefix: string) => string;
  readonly denseBias: boolean;
  readonly activation: Activation | "tanh";
  readonly norm: string | undefined;
  readonly output: string;
}

/** A formula that no key of config.json changes: two linear maps of the first token's state. */
export const clsHead = (
  parts: Pick<HeadFormula, "dense" | "activation" | "output">,
): v.GenericSchema<unknown, HeadFormula> =>
  v.pipe(
    v.unknown(),
    v.transform((): HeadFormula => ({ pooling: "cls", denseBias: true, norm: undefined, ...parts })),
  );

/** BERT's: https://arxiv.org/abs/1810.04805, section 4.1, with the pooler of its implementation. */
export const bertHead = clsHead({
  dense: (prefix) => `${prefix}pooler.dense`,
  activation: "tanh",
  output: "classifier",
});

/** RoBERTa's: BERT's under other names. */
export const robertaHead = clsHead({
  dense: () => "classifier.dense",
  activation: "tanh",
  output: "classifier.out_proj",
});
