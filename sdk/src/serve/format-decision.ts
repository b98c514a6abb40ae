import type { AnswerDetails } from "./service.ts";

/** Formats what a decision was based on as a dictionary of RFC 8941: `budget=50, wait=12.3, hedge`. */
export const formatDecision = (decision: AnswerDetails["decision"]): string =>
  Object.entries(decision)
    .map(([name, value]) => (value === true ? name : `${name}=${value.toFixed(1)}`))
    .join(", ");
