import type { Context } from "hono";
import {
  DECISION_HEADER,
  MODEL_HEADER,
  PREDICTED_HEADER,
  PROVIDER_HEADER,
  REASON_HEADER,
  REMAINING_HEADER,
  TIER_HEADER,
} from "../contract/headers.ts";
import { formatDecision } from "../format-decision.ts";
import { noteAnswer } from "../middleware/note-answer.ts";
import type { Deadline } from "../routing/deadline.ts";
import { formatServerTiming } from "../server-timing.ts";
import type { AnswerDetails } from "../service.ts";

/** Sets the response headers that describe an answer. */
export function describeAnswer(
  c: Context,
  answer: AnswerDetails & { readonly texts: number },
  deadline: Deadline,
): void {
  noteAnswer(c, answer);
  c.header(TIER_HEADER, answer.tier);
  c.header(REASON_HEADER, answer.reason);
  c.header(DECISION_HEADER, formatDecision(answer.decision));
  c.header(MODEL_HEADER, `${answer.model}@${answer.version}`);
  c.header(PROVIDER_HEADER, answer.provider);
  if (answer.predictedMs !== undefined) c.header(PREDICTED_HEADER, answer.predictedMs.toFixed(2));
  const remainingMs = deadline.remainingMs();
  if (remainingMs !== undefined) {
    // On deployed Workers the clock stops during computation, and the computation seems to take 0 ms. In this case, the
    // predicted time is subtracted too.
    const unseenMs = answer.timings["compute"] === 0 ? (answer.predictedMs ?? 0) : 0;
    c.header(REMAINING_HEADER, (remainingMs - unseenMs).toFixed(2));
  }
  c.header("server-timing", formatServerTiming({ ...answer.timings, total: deadline.elapsedMs() }));
}
