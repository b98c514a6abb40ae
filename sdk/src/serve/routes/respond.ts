import type { Context } from "hono";
import { encodeFloats } from "../base64.ts";
import type { EncodingFormat } from "../contract/embed.ts";
import {
  MODEL_HEADER,
  PREDICTED_HEADER,
  PROVIDER_HEADER,
  REASON_HEADER,
  REMAINING_HEADER,
  TIER_HEADER,
} from "../contract/headers.ts";
import type { Deadline } from "../routing/deadline.ts";
import { formatServerTiming } from "../server-timing.ts";
import type { Background, EmbedAnswer } from "../service.ts";

/** Decimal digits that identify every float32: https://en.wikipedia.org/wiki/Single-precision_floating-point_format */
const FLOAT32_DIGITS = 9;

/** Describes an answer in the response's headers. */
export function describeAnswer(c: Context, answer: EmbedAnswer, deadline: Deadline): void {
  c.header(TIER_HEADER, answer.tier);
  c.header(REASON_HEADER, answer.reason);
  c.header(MODEL_HEADER, `${answer.model}@${answer.version}`);
  c.header(PROVIDER_HEADER, answer.provider);
  if (answer.predictedMs !== undefined) c.header(PREDICTED_HEADER, answer.predictedMs.toFixed(2));
  const remainingMs = deadline.remainingMs();
  if (remainingMs !== undefined) {
    // On deployed Workers the clock stops during computation, so the predicted time stands in.
    const unseenMs = answer.timings["compute"] === 0 ? (answer.predictedMs ?? 0) : 0;
    c.header(REMAINING_HEADER, (remainingMs - unseenMs).toFixed(2));
  }
  c.header("server-timing", formatServerTiming({ ...answer.timings, total: deadline.elapsedMs() }));
}

/** Writes a vector as base64, or as numbers with the digits that float32 has. */
export function encodeVector(vector: Float32Array<ArrayBuffer>, format: EncodingFormat): number[] | string {
  return format === "base64"
    ? encodeFloats(vector)
    : Array.from(vector, (value) => Number(value.toPrecision(FLOAT32_DIGITS)));
}

/** Returns `waitUntil` where the platform has it. Elsewhere work continues without it. */
export function backgroundOf(c: Context): Background {
  return (work) => {
    try {
      c.executionCtx.waitUntil(work);
    } catch {
      // Hono throws without an execution context: this is a server process, which keeps running.
    }
  };
}
