import * as v from "valibot";
import { answerCall } from "../../runtime/tasks/answer.ts";
import { bodyOf, countUpTo, ownAnswer } from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { inCodePoints } from "../routes/code-points.ts";
import { answerFields, taskAt } from "../routes/task-route.ts";

/** Maximum number of answers to a question. */
export const MAX_ANSWERS = 100;
/** Maximum number of tokens in an answer. The limit bounds the work: each token of a context begins up to this number of spans. */
export const MAX_ANSWER_TOKENS = 100;

export const QuestionInContext = v.object({ question: v.string(), context: v.string() });

/** Part of a context that answers the question. Offsets count Unicode code points, as in transformers. */
const AnswerResult = v.object({ answer: v.string(), score: v.number(), start: v.number(), end: v.number() });
export type AnswerResult = v.InferOutput<typeof AnswerResult>;

export const answerRoute = taskAt("/v1/answer", {
  task: "answer",
  schema: v.pipe(
    bodyOf({
      question: v.optional(v.string()),
      context: v.optional(v.string()),
      inputs: v.optional(v.array(QuestionInContext)),
      /** Maximum number of answers to each question. */
      top_k: v.optional(countUpTo(MAX_ANSWERS), 1),
      /** Maximum number of tokens in an answer. */
      max_answer_tokens: v.optional(countUpTo(MAX_ANSWER_TOKENS), 15),
      /** Number of tokens that two parts of a long context share. Default 128, or fewer for models with a short maximum length. */
      doc_stride: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
      /** Whether an empty answer is possible. */
      handle_impossible_answer: v.optional(v.boolean(), false),
    }),
    v.check(
      ({ question, context, inputs }) =>
        inputs ? question === undefined && context === undefined : question !== undefined && context !== undefined,
      "must have `question` and `context`, or a list of both as `inputs`",
    ),
    v.transform(({ question = "", context = "", inputs, ...options }) => ({
      ...options,
      questions: inputs ?? [{ question, context }],
    })),
  ),
  summary: "Answers to questions, from a text",
  example: { question: "Where does Anna work?", context: "Anna works in New York." },
  response: ownAnswer({
    /** The answers to each question, best first. */
    results: v.array(v.array(AnswerResult)),
  }),
  call: ({ questions, ...options }) => answerCall(questions, camelCase(options)),
  respond(answer, { questions }) {
    const results = answer.result.map((spans, i) => inCodePoints(questions[i]?.context ?? "", spans));
    return { ...answerFields(answer), results };
  },
});

/** The body of `POST /v1/answer`: one question with its context, or several as `inputs`. */
export type AnswerRequest = v.InferInput<typeof answerRoute.schema>;
export type AnswerResponse = v.InferOutput<typeof answerRoute.response>;
