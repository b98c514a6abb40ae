import { BertEdgeError } from "../../artifact/error.ts";
import { type Manifest, taskUnsupported } from "../../artifact/manifest.ts";
import { bestOf, softmax } from "./scores.ts";
import type { TaskCall } from "./task-call.ts";

/** Default maximum tokens of a sequence: `max_seq_len` of transformers' pipeline. */
const MAX_TOKENS = 384;
/** Maximum tokens of a question: `max_question_len` of transformers' pipeline. */
export const MAX_QUESTION_TOKENS = 64;
/** Default number of tokens that two parts of a context share: `doc_stride` of transformers' pipeline. */
const STRIDE = 128;

export interface ContextQuestion {
  readonly question: string;
  /** The text that has the answer. A long text is read in parts. */
  readonly context: string;
}

/** Options of question answering, including those that only the HTTP interfaces of other services have. */
export interface AnswerParameters extends AnswerOptions, SpanOptions {
  /** Maximum number of tokens of a sequence, including the question. Default 384, or the model's maximum if that is less. */
  readonly maxTokens?: number | undefined;
}

/** Calls a model for question answering. The result is the best answers to each question. Offsets are UTF-16 indices. */
export const answerCall = (
  questions: readonly ContextQuestion[],
  { docStride, maxTokens: wanted, ...options }: AnswerParameters = {},
): TaskCall<AnswerSpan[][], AnswerSpan[]> => ({
  texts: questions.flatMap(({ question, context }) => [question, context]),
  size: questions.length,
  nameOf: (index) => `The ${index % 2 === 0 ? "question" : "context"} of input ${Math.floor(index / 2)}`,
  on(manifest) {
    if (manifest.task !== "answer") throw taskUnsupported(manifest, "answer");
    const maxTokens = wanted ?? Math.min(MAX_TOKENS, manifest.maxTokens);
    if (maxTokens > manifest.maxTokens) throw partTooLong(manifest, maxTokens);
    const shared = docStride ?? Math.min(STRIDE, Math.floor(maxTokens / 2));
    return {
      inputs: questions.map(({ question, context }) => [question, context] as const),
      // A context is never too long, because it is read in parts.
      truncate: true,
      encoder: (tokenizer) => (input, _, maxWindows) => {
        const [question, context] = input as readonly [string, string];
        const sizes = { maxTokens, maxQuestionTokens: MAX_QUESTION_TOKENS, stride: shared, maxWindows };
        const windows = tokenizer.encodeWindows(question, context, sizes);
        return {
          sequences: windows,
          read: (outputs) =>
            bestAnswers(
              windows.map(({ offsets, words }, i) => ({
                logits: outputs[i] as Float32Array,
                contextMask: Array.from(words, (word) => word >= 0),
                offsets,
                wordIds: words,
              })),
              context,
              options,
            ),
        };
      },
      decode: (answers) => [...answers],
    };
  },
});

const partTooLong = ({ name, maxTokens }: Manifest, wanted: number): BertEdgeError =>
  new BertEdgeError("request_invalid", `The model ${name} reads up to ${maxTokens} tokens at once, not ${wanted}.`, {
    hint: `Leave max_seq_len out, or set it to at most ${maxTokens}.`,
  });

/** Part of a context, together with the question, as the model read it. */
export interface AnswerWindow {
  /** Two logits of each token, for the start and the end of the answer: [tokens, 2], row-major. The first token is CLS. */
  readonly logits: Float32Array;
  /** Whether each token belongs to the context: [tokens] */
  readonly contextMask: ArrayLike<boolean | number>;
  /** UTF-16 start and end of the context's tokens in the context: [tokens, 2], row-major. The entries of other tokens are not read. */
  readonly offsets: Int32Array;
  /** Index of each token's word, -1 for tokens without one: [tokens] */
  readonly wordIds: ArrayLike<number>;
}

/** Options of finding answers in windows. */
export interface SpanOptions extends Omit<AnswerOptions, "docStride"> {
  /** Whether answers are widened to whole words; default true. */
  readonly alignToWords?: boolean | undefined;
}

export interface AnswerOptions {
  /** Number of tokens that two parts of a long context share. Default 128, or half of a sequence if that is less. */
  readonly docStride?: number | undefined;
  /** Maximum number of answers; default 1. */
  readonly topK?: number | undefined;
  /** Maximum number of tokens in an answer, before it is widened to whole words; default 15. */
  readonly maxAnswerTokens?: number | undefined;
  /** Whether to add an empty answer, whose score says how likely the context has no answer; default false. */
  readonly handleImpossibleAnswer?: boolean | undefined;
}

/** Part of a context that answers the question. */
export interface AnswerSpan {
  readonly answer: string;
  /** Scores of equal answers add up, so this can be above 1. */
  readonly score: number;
  /** UTF-16 offsets in the context. */
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the best answers in the windows of a context, best first, as transformers' QuestionAnsweringPipeline did. Version
 * 5.2 was the last one that had it.
 *
 * The score of a span in a window is softmax(start logits)[first token] · softmax(end logits)[last token], over CLS and the
 * context's tokens. Scores of equal answers (ignoring case) are added up, wherever they are; the offsets of the first are
 * kept. The score of the empty answer is that of a span of only CLS, in the window where it is lowest.
 */
export function bestAnswers(
  windows: readonly AnswerWindow[],
  context: string,
  { topK = 1, maxAnswerTokens = 15, handleImpossibleAnswer = false, alignToWords = true }: SpanOptions = {},
): AnswerSpan[] {
  // Widening makes several spans equal, so more spans of each window are needed for `topK` answers. transformers does the same.
  const perWindow = alignToWords ? 2 * topK + 10 : topK;
  const answers = new Map<string, AnswerSpan>();
  let noAnswer = Number.POSITIVE_INFINITY;
  for (const window of windows) {
    const scores = scoresOf(window);
    noAnswer = Math.min(noAnswer, scoreOfSpan(scores, 0, 0));
    for (const span of bestOf(spansOf(scores, maxAnswerTokens), scoreOf, perWindow)) {
      const [start, end] = alignToWords ? wordOffsets(window, span) : tokenOffsets(window, span);
      const answer = context.slice(start, end);
      const key = answer.toLowerCase();
      const same = answers.get(key);
      answers.set(key, same ? { ...same, score: same.score + span.score } : { answer, score: span.score, start, end });
    }
  }
  const found = [...answers.values()];
  if (handleImpossibleAnswer) found.push({ answer: "", score: noAnswer, start: 0, end: 0 });
  return bestOf(found, scoreOf, topK);
}

const scoreOf = ({ score }: { readonly score: number }): number => score;

/** Scores of the start and the end of an answer, for CLS and for each token of the context. */
interface WindowScores {
  /** Indices in the window of the tokens that `starts` and `ends` score. CLS is the first. */
  readonly tokens: readonly number[];
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

function scoresOf({ logits, contextMask }: AnswerWindow): WindowScores {
  const tokens = Array.from({ length: contextMask.length }, (_, i) => i).filter((i) => i === 0 || contextMask[i]);
  const starts = softmax(tokens.map((i) => logits[2 * i] as number));
  const ends = softmax(tokens.map((i) => logits[2 * i + 1] as number));
  return { tokens, starts, ends };
}

const scoreOfSpan = ({ starts, ends }: WindowScores, start: number, end: number): number =>
  (starts[start] as number) * (ends[end] as number);

/** Indices of a span's first and last token. */
interface Span {
  readonly first: number;
  readonly last: number;
  readonly score: number;
}

/** Lists all spans of a window's context. */
function* spansOf(scores: WindowScores, maxTokens: number): Generator<Span> {
  const { tokens } = scores;
  for (let start = 1; start < tokens.length; start++) {
    for (let end = start; end < Math.min(tokens.length, start + maxTokens); end++) {
      const [first, last] = [tokens[start] as number, tokens[end] as number];
      yield { first, last, score: scoreOfSpan(scores, start, end) };
    }
  }
}

const tokenOffsets = ({ offsets }: AnswerWindow, { first, last }: Span): [start: number, end: number] => [
  offsets[2 * first] as number,
  offsets[2 * last + 1] as number,
];

/** Returns the offsets of a span's words, as far as the window contains them. */
function wordOffsets(window: AnswerWindow, { first, last, score }: Span): [start: number, end: number] {
  const { wordIds, contextMask } = window;
  const isSameWord = (a: number, b: number) => contextMask[b] && wordIds[a] === wordIds[b];
  if ((wordIds[first] as number) >= 0 && (wordIds[last] as number) >= 0) {
    while (isSameWord(first, first - 1)) first--;
    while (isSameWord(last, last + 1)) last++;
  }
  return tokenOffsets(window, { first, last, score });
}
