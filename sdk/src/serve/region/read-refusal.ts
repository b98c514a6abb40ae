import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { isRedirect } from "../../storage/is-redirect.ts";
import { QUEUE_HEADER } from "../contract/headers.ts";
import type { RegionConnection } from "./region-connection.ts";

/** A response of the region that is not an answer. */
export interface RegionRefusal {
  readonly error: BertEdgeError;
  /** Whether the region works: it refuses this request, or has no time for it. */
  readonly isAlive: boolean;
  /** Milliseconds in which the region has no time for requests. */
  readonly waitMs: number;
  /** Whether the region works, but does not serve the model. Default false. */
  readonly lacksModel?: boolean;
}

/** Largest body of an error that is read, in bytes. */
export const MAX_ERROR_BYTES = 8_192;

/** Wait after a refusal that names none, in ms: some gateways do not send `retry-after`. */
const DEFAULT_WAIT_MS = 1_000;

/** Longest wait that a region may ask for, in ms: a wrong one must not stop callers for hours. */
const MAX_WAIT_MS = 60_000;

/** Probable causes of some HTTP statuses. On AWS, 403 means that a signature is missing or wrong. */
const suspects: Readonly<Record<number, string>> = {
  401: "REGION_KEY",
  403: "REGION_KEY, or `aws` if the region accepts only signed requests,",
};

/** Statuses with which servers refuse a request for its own faults. */
const requestFaults = new Set([400, 413, 422]);

const ErrorBody = v.object({ error: v.object({ code: v.string() }) });

/**
 * Reads a response that is not an answer.
 *
 * @param body undefined if the body is too large
 * @param texts number of texts in the request
 */
export function readRefusal(
  { status, headers }: Pick<Response, "status" | "headers">,
  body: string | undefined,
  texts: number,
  { dialect, transport: { host, settings } }: RegionConnection,
): RegionRefusal {
  const json = jsonOf(body);
  const failed = (what: string, hint: string, isAlive = false): RegionRefusal => ({
    error: new BertEdgeError("region_failed", `The region at ${host} ${what}.`, { hint }),
    isAlive,
    waitMs: 0,
  });
  const overloaded = (what: string, waitMs: number): RegionRefusal => ({
    error: new BertEdgeError("region_overloaded", `The region at ${host} ${what}.`, {
      hint: "Try again later, or give the region more machines.",
      retryAfterMs: pauseOf(headers),
    }),
    isAlive: true,
    waitMs,
  });

  if (isRedirect(status)) {
    return failed("redirects requests, and redirects are not followed", "Set REGION_URL to the address that answers.");
  }
  const fault = requestFaults.has(status) ? dialect.faultOf(json, texts) : undefined;
  if (fault) return { error: fault, isAlive: true, waitMs: 0 };
  if (status === 413) return failed("refused a request as too large", "Raise `maxBodyBytes` of the region.", true);
  const code = codeOf(json);
  if (code === "model_unknown") {
    const hint = "Name the model in MODEL of the region too, and prepare it with a regional target.";
    return { ...failed("does not serve the model", hint, true), lacksModel: true };
  }
  if (status === 429 || (status === 503 && code === "overloaded")) return overloaded("is overloaded", waitOf(headers));
  if (status === 504 && code === "budget_exceeded") return overloaded("has no time within the budget", 0);
  return failed(`answered with HTTP ${status}`, `Check ${suspects[status] ?? settings[0]} and the region's log.`);
}

function jsonOf(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? "");
  } catch {
    return undefined;
  }
}

const codeOf = (json: unknown): string | undefined => {
  const parsed = v.safeParse(ErrorBody, json);
  return parsed.success ? parsed.output.error.code : undefined;
};

/** Reads the pause in milliseconds that a refusal asks for. A date is not read: clocks of machines differ. */
const pauseOf = (headers: Headers): number =>
  Math.min(
    [numberOf(headers, "retry-after-ms"), 1_000 * numberOf(headers, "retry-after")].find(isWait) ?? DEFAULT_WAIT_MS,
    MAX_WAIT_MS,
  );

/**
 * Reads the wait of a new request in milliseconds: the region's queue, or the pause if the region reports no queue. The pause
 * is longer than the queue, because it spreads the retries of all refused requests.
 */
function waitOf(headers: Headers): number {
  const queueMs = numberOf(headers, QUEUE_HEADER);
  return isWait(queueMs) ? Math.min(queueMs, MAX_WAIT_MS) : pauseOf(headers);
}

const numberOf = (headers: Headers, name: string): number => Number.parseFloat(headers.get(name) ?? "");

const isWait = (ms: number): boolean => ms >= 0 && Number.isFinite(ms);
