import type { RequestTrace } from "./trace.ts";

/**
 * Which decisions are logged: all of them, none, or only the unusual ones: refusals, answers of the region, answers
 * that both tiers were asked for, and answers that are expected to be late.
 */
export type DecisionLog = "all" | "unusual" | false;

/** A decision about a request, and what followed. Times are in milliseconds. */
export interface LoggedDecision {
  /** The tier that answered, or the code of the refusal. */
  readonly outcome: string;
  readonly reason?: string | undefined;
  readonly isUnusual: boolean;
  /** Number of texts; undefined if the request was refused before its body was read. */
  readonly texts?: number | undefined;
  /** The figures behind the decision. */
  readonly basis: Readonly<Record<string, number | true>>;
  readonly elapsedMs: number;
  readonly trace: RequestTrace | undefined;
}

/** Logs a decision as one line of JSON, which log services can search. */
export function logDecision(log: DecisionLog, decision: LoggedDecision): void {
  const { outcome, isUnusual, basis, elapsedMs, trace, ...fields } = decision;
  if (log === false || (log === "unusual" && !isUnusual)) return;
  const times = Object.entries({ ...basis, elapsedMs }).map(([name, value]) => [
    name,
    typeof value === "number" ? Math.round(value * 10) / 10 : value,
  ]);
  console.log(JSON.stringify({ "bert-edge": outcome, ...fields, ...Object.fromEntries(times), ...trace }));
}
