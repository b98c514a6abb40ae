import type { Context } from "hono";
import type { AnswerDetails, CallTerms } from "../service.ts";

const VARIABLE = "bert-edge-answer";

/** The part of an answer that limits and logs read. It has no texts and no results. */
export interface NotedAnswer
  extends Pick<AnswerDetails, "model" | "version" | "tier" | "reason" | "tokens" | "timings" | "decision"> {
  /** Number of texts that were computed. */
  readonly texts: number;
}

/** Notes an answer for the middleware that the request has passed. */
export function noteAnswer(c: Context, answer: NotedAnswer): void {
  const { model, version, tier, reason, tokens, timings, decision, texts } = answer;
  c.set(VARIABLE, { model, version, tier, reason, tokens, timings, decision, texts });
}

/** Returns the answer to a request; undefined if it was refused, or computes nothing. */
export const answerOf = (c: Context): NotedAnswer | undefined => c.get(VARIABLE);

const WORK_VARIABLE = "bert-edge-on-work";

/** Has work of a request counted when it begins: Workers do not run what comes after a caller has gone. */
export const setOnWork = (c: Context, onWork: CallTerms["onWork"]): void => c.set(WORK_VARIABLE, onWork);

/** Returns what counts the work of a request; undefined if nothing does. */
export const onWorkOf = (c: Context): CallTerms["onWork"] => c.get(WORK_VARIABLE);
