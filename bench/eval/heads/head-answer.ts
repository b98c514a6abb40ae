/** A model's answer to one input, in a form in which answers of transformers and ours can be compared. */
export interface HeadAnswer {
  /** The words and places of the answer, without its numbers. */
  readonly text: string;
  /** Scores, weights or vectors, in the order of the answer. */
  readonly numbers: readonly number[];
  /** The choices that the model made, such as the label of each token. */
  readonly choices: readonly { readonly pick: string }[];
}

/** An answer of transformers' float32 model. */
export interface ExpectedAnswer extends HeadAnswer {
  readonly choices: readonly {
    readonly pick: string;
    /** How far every logit must move, at least, before the choice changes. */
    readonly margin: number;
  }[];
}
