import { taskUnsupported } from "../../artifact/manifest.ts";
import type { TextWindow } from "../tokenizer/tokenizer.ts";
import { type AnswerOptions, type AnswerSpan, bestAnswers } from "./answer.ts";
import type { TaskCall } from "./task-call.ts";

/** Maximum tokens of a sequence, and of a question: `max_seq_len` and `max_question_len` of transformers' pipeline. */
const MAX_TOKENS = 384;
const MAX_QUESTION_TOKENS = 64;
/** Tokens that two parts of a context share, at most: `doc_stride` of transformers' pipeline. */
const STRIDE = 128;

export interface ContextQuestion {
  readonly question: string;
  /** The text that has the answer. A long one is read in parts. */
  readonly context: string;
}

export interface AnswerParameters extends AnswerOptions {
  /** Number of tokens that two parts of a long context share. Default 128, or half of a sequence if that is less. */
  readonly stride?: number | undefined;
}

/** Calls a model for question answering. The result is the best answers to each question. Offsets are UTF-16 indices. */
export const answerCall = (
  questions: readonly ContextQuestion[],
  { stride, ...options }: AnswerParameters = {},
): TaskCall<AnswerSpan[][]> => ({
  texts: questions.flatMap(({ question, context }) => [question, context]),
  size: questions.length,
  nameOf: (index) => `The ${index % 2 === 0 ? "question" : "context"} of input ${Math.floor(index / 2)}`,
  on(manifest) {
    if (manifest.task !== "answer") throw taskUnsupported(manifest, "answer");
    const maxTokens = Math.min(MAX_TOKENS, manifest.maxTokens);
    const shared = stride ?? Math.min(STRIDE, Math.floor(maxTokens / 2));
    const windows: TextWindow[][] = [];
    return {
      inputs: questions.map(({ question, context }) => [question, context] as const),
      // Contexts are read in parts.
      truncate: true,
      encode(tokenizer, input, index, most) {
        const [question, context] = input as readonly [string, string];
        const sizes = { maxTokens, maxQuestionTokens: MAX_QUESTION_TOKENS, stride: shared, maxWindows: most };
        windows[index] = tokenizer.encodeWindows(question, context, sizes);
        return windows[index];
      },
      decode(outputs) {
        let done = 0;
        return questions.map(({ context }, index) => {
          const parts = (windows[index] as TextWindow[]).map(({ offsets, words }) => ({
            logits: outputs[done++] as Float32Array,
            contextMask: Array.from(words, (word) => word >= 0),
            offsets,
            wordIds: words,
          }));
          return bestAnswers(parts, context, options);
        });
      },
    };
  },
});
