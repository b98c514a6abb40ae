import * as v from "valibot";
import { type AnswerSpan, answerCall, type ContextQuestion } from "../../runtime/tasks/answer.ts";
import { countUpTo, ownAnswer, ownBody } from "../contract/fields.ts";
import { codePointsBefore } from "../routes/code-points.ts";
import { answerFields, type TaskRoute } from "../routes/task-route.ts";

/** Answers to a question, at most. */
export const MAX_ANSWERS = 100;
/** Each part of a context has as many spans for each of its tokens. */
export const MAX_ANSWER_TOKENS = 100;

const Question = v.object({ question: v.string(), context: v.string() });

/** The body of `POST /v1/answer`: one question with its context, or several as `inputs`. */
export const AnswerRequest = v.pipe(
  ownBody({
    question: v.optional(v.string()),
    context: v.optional(v.string()),
    inputs: v.optional(v.array(Question)),
    /** Maximum number of answers to each question. */
    top_k: v.optional(countUpTo(MAX_ANSWERS), 1),
    /** Maximum number of tokens in an answer. */
    max_answer_tokens: v.optional(countUpTo(MAX_ANSWER_TOKENS), 15),
    /** Number of tokens that two parts of a long context share. Default 128, or less for models that read little. */
    doc_stride: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
    /** Whether an empty answer is possible. */
    handle_impossible_answer: v.optional(v.boolean(), false),
  }),
  v.check(
    ({ question, context, inputs }) =>
      inputs ? question === undefined && context === undefined : question !== undefined && context !== undefined,
    "must have `question` and `context`, or a list of both as `inputs`",
  ),
);
export type AnswerRequest = v.InferInput<typeof AnswerRequest>;

/** Part of a context that answers the question. Offsets count Unicode code points, as in transformers. */
const AnswerResult = v.object({ answer: v.string(), score: v.number(), start: v.number(), end: v.number() });
export type AnswerResult = v.InferOutput<typeof AnswerResult>;

export const AnswerResponse = ownAnswer({
  /** The answers to each question, best first. */
  results: v.array(v.array(AnswerResult)),
});
export type AnswerResponse = v.InferOutput<typeof AnswerResponse>;

/** `POST /v1/answer` */
export const answerRoute: TaskRoute<typeof AnswerRequest, AnswerSpan[][]> = {
  schema: AnswerRequest,
  about: {
    summary: "Answers to questions, from a text",
    example: { question: "Where does Anna work?", context: "Anna works in New York." },
    response: AnswerResponse,
  },
  call: (body) =>
    answerCall(questionsIn(body), {
      topK: body.top_k,
      maxAnswerTokens: body.max_answer_tokens,
      stride: body.doc_stride,
      handleImpossibleAnswer: body.handle_impossible_answer,
    }),
  respond(c, answer, body) {
    const results = questionsIn(body).map(({ context }, i) => answerResults(context, answer.result[i] as AnswerSpan[]));
    return c.json<AnswerResponse>({ ...answerFields(answer), results });
  },
};

interface Questions {
  readonly question?: string | undefined;
  readonly context?: string | undefined;
  readonly inputs?: readonly ContextQuestion[] | undefined;
}

const questionsIn = ({ question = "", context = "", inputs }: Questions): readonly ContextQuestion[] =>
  inputs ?? [{ question, context }];

/** Describes the answers in a context, with offsets in code points. */
export function answerResults(context: string, answers: readonly AnswerSpan[]): AnswerResult[] {
  const position = codePointsBefore(context);
  return answers.map(({ answer, score, start, end }) => ({
    answer,
    score,
    start: position(start),
    end: position(end),
  }));
}
