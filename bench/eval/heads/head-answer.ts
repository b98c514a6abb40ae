/** A model's answer to one input, in a form in which answers of transformers and ours can be compared. */
export interface HeadAnswer {
  /** What the answer says in words and places, without its numbers. */
  readonly text: string;
  /** Scores, weights or vectors, in the order of the answer. */
  readonly numbers: readonly number[];
  /** What was chosen, such as the label of each token. */
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
