/**
 * Computes SPLADE's weights log(1 + max(x, 0)): https://arxiv.org/abs/2109.10086
 *
 * @param logits maximum logit over a text's tokens, for each token of the vocabulary: [vocabulary]
 * @returns [vocabulary]
 */
export const sparseVector = (logits: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> =>
  logits.map((logit) => Math.log1p(Math.max(logit, 0)));
