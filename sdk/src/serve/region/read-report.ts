import { QUEUE_HEADER } from "../contract/headers.ts";
import { timingOf } from "../server-timing.ts";

/** Times that the region reports, in milliseconds. */
export interface RegionReport {
  /** Time in the region, from the request's arrival to the answer. */
  readonly totalMs: number;
  readonly queuedMs: number;
  readonly computedMs: number;
  /** Wait of a new request in the region's queue. If the region does not predict it, the wait of this request. */
  readonly waitMs: number;
}

/**
 * Reads the region's report from the headers of a response. Parts that are missing are 0.
 *
 * @param tookMs milliseconds of the whole fetch, which no part can exceed
 */
export function readReport(headers: Headers, tookMs: number): RegionReport {
  const timing = headers.get("server-timing");
  const part = (name: string) => Math.min(tookMs, timingOf(timing, name));
  const [queuedMs, computedMs] = [part("queue"), part("compute")];
  const waitMs = Number(headers.get(QUEUE_HEADER) ?? Number.NaN);
  return {
    totalMs: Math.max(part("total"), computedMs),
    queuedMs,
    computedMs,
    waitMs: waitMs >= 0 ? waitMs : queuedMs,
  };
}
