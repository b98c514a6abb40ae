import { BertEdgeError } from "../artifact/error.ts";
import type { Decision } from "./routing/decide.ts";

type Refused = Extract<Decision, { refusal: unknown }>;

/** Pause before a retry when nothing better is known, in ms. */
const RETRY_MS = 1_000;

/** Makes the error for a request that nobody answers. `cpu` are figures for `request_too_costly`. */
export function refusalError(
  { refusal, retryAfterMs = RETRY_MS }: Refused,
  cpu: { neededMs: number; limitMs: number },
): BertEdgeError {
  switch (refusal) {
    case "overloaded":
      return new BertEdgeError("overloaded", "More requests wait than can be answered in time.", {
        hint: "Send the request again after the time in the header retry-after-ms, or with a larger latency budget.",
        retryAfterMs: Math.max(1, retryAfterMs),
      });
    case "budget_exceeded":
      return new BertEdgeError("budget_exceeded", "The latency budget was over before the request could be computed.", {
        hint: "Give a larger budget, or none.",
      });
    case "request_too_costly":
      return new BertEdgeError(
        "request_too_costly",
        `The request needs about ${Math.ceil(cpu.neededMs)} ms of CPU time, but the platform allows ${cpu.limitMs} ms.`,
        { hint: "Send the texts in several requests. With a region, the region would answer." },
      );
    case "tier_unavailable":
      return new BertEdgeError("tier_unavailable", "The tier that the request pins cannot answer now.", {
        hint: "Send x-bert-edge-tier: auto, or try again later.",
        retryAfterMs,
      });
    case "precision_unavailable":
      return new BertEdgeError(
        "precision_unavailable",
        "No tier of this deployment computes with the precision asked for.",
        {
          hint: "Leave x-bert-edge-precision out, or ask for int8.",
        },
      );
  }
}
