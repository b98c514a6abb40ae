import type { AnswerSpan } from "../../runtime/tasks/answer.ts";
import { answerCall, type ContextQuestion } from "../../runtime/tasks/answer-call.ts";
import { AnswerRequest, AnswerResponse, type AnswerResult } from "../contract/answer.ts";
import { answerFields } from "./answer-fields.ts";
import { codePointsBefore } from "./code-points.ts";
import type { TaskRoute } from "./task-route.ts";

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
