import { type Figure, figuresOf } from "../../figures.ts";
import type { LoadSummary } from "./summarize.ts";

/** Returns the figures of a run. Where every request was refused, answers have no latency. */
export function figuresOfLoad(row: string, { requests, kept, p50, p99, refusals }: LoadSummary): Figure[] {
  const answered = (figure: number) => (refusals.length < requests ? figure : undefined);
  return figuresOf(row, {
    requests: [requests, "count"],
    kept: [kept, "share"],
    p50: [answered(p50), "ms"],
    p99: [answered(p99), "ms"],
  });
}
