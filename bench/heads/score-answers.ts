/** First and last token of an answer. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Maximum tokens of an answer: `max_answer_len` of transformers' pipeline is 15 words, SQuAD's evaluation has 30 tokens. */
const MAX_ANSWER = 30;

/**
 * Chooses the span with the largest sum of logits for its start and its end, from the token `from` to the last but one.
 *
 * @param logits [tokens, 2]
 */
export function bestSpan(logits: Float32Array, from: number): Span {
  const last = logits.length / 2 - 1;
  let best = { start: from, end: from, score: Number.NEGATIVE_INFINITY };
  for (let start = from; start < last; start++) {
    for (let end = start; end < Math.min(last, start + MAX_ANSWER); end++) {
      const score = (logits[2 * start] as number) + (logits[2 * end + 1] as number);
      if (score > best.score) best = { start, end, score };
    }
  }
  return { start: best.start, end: best.end };
}

/** Returns SQuAD's F1 of tokens in percent: the overlap of the answers, averaged over all questions. */
export function answerF1(gold: readonly Span[], found: readonly Span[]): number {
  const scores = gold.map(({ start, end }, i) => {
    const other = found[i] as Span;
    const common = Math.max(0, Math.min(end, other.end) - Math.max(start, other.start) + 1);
    return (2 * common) / (end - start + 1 + (other.end - other.start + 1));
  });
  return (100 * scores.reduce((sum, score) => sum + score, 0)) / scores.length;
}
