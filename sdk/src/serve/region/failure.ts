import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { isRedirect } from "../../storage/http-response.ts";
import { QUEUE_HEADER } from "../contract/headers.ts";
import type { RequestTrace } from "../trace.ts";
import type { RegionConnection } from "./region-connection.ts";

/** Kinds of failures: reasons why a region did not give the expected answer. */
export type FailureKind =
  /** The region could not be reached, or its answer broke off. */
  | "lost"
  /** No answer came within the time limit. */
  | "late"
  /** The answer is not the one that the edge would give. */
  | "wrong"
  /** The response is an error of the region itself. */
  | "broken"
  /** The region works, but refuses this request, or cannot answer it within the budget. */
  | "refused"
  /** The region works, but does not serve the model. */
  | "lacks-model"
  /** The region works, but has no time for requests. */
  | "busy";

/** The failure of a fetch from a region. `probe.ts` draws the conclusions about the region. */
export class RegionFailure extends Error {
  readonly kind: FailureKind;
  /** The error for the caller. */
  readonly error: BertEdgeError;
  /** Milliseconds until a busy region has time for a request; otherwise 0. */
  readonly waitMs: number;

  constructor(kind: FailureKind, error: BertEdgeError, waitMs = 0) {
    super(error.message);
    this.kind = kind;
    this.error = error;
    this.waitMs = waitMs;
  }

  /** Whether the region works. */
  get isAlive(): boolean {
    return this.kind === "refused" || this.kind === "lacks-model" || this.kind === "busy";
  }
}

/** Turns any error that a fetch has thrown into a RegionFailure. */
export function failureOf(cause: unknown, connection: RegionConnection, isProbe = false): RegionFailure {
  if (cause instanceof RegionFailure) return cause;
  if (cause instanceof BertEdgeError) return new RegionFailure("wrong", cause);
  const kind = cause instanceof Error && cause.name === "TimeoutError" ? "late" : "lost";
  const what = isProbe ? "did not answer a probe" : "could not be reached, or did not answer in time";
  return new RegionFailure(kind, connectionFailed(connection, what, cause));
}

/** Returns the error of a region that did not answer as it should. */
export const connectionFailed = ({ host, settings }: RegionConnection, what: string, cause?: unknown): BertEdgeError =>
  new BertEdgeError("region_failed", `The region at ${host} ${what}.`, {
    hint: `Check ${settings.join(", ")} and the region's log.`,
    cause,
  });

/** Probable causes of some HTTP statuses. On AWS, 403 means that a signature is missing or wrong. */
const suspects: Readonly<Record<number, string>> = {
  401: "REGION_KEY",
  403: "REGION_KEY, or `aws` if the region accepts only signed requests,",
};

/** HTTP statuses with which servers refuse an invalid request. */
const requestFaults = new Set([400, 413, 422]);

const ErrorBody = v.object({ error: v.object({ code: v.string() }) });

/** Returns the failure that a response without an answer means. `body` is undefined if it is too large. */
export function readRefusal(
  { status, headers }: Pick<Response, "status" | "headers">,
  body: string | undefined,
  texts: number,
  { dialect, host, settings }: RegionConnection,
): RegionFailure {
  const json = jsonOf(body);
  const failed = (kind: FailureKind, what: string, hint: string) =>
    new RegionFailure(kind, new BertEdgeError("region_failed", `The region at ${host} ${what}.`, { hint }));
  const overloaded = (what: string) =>
    new BertEdgeError("region_overloaded", `The region at ${host} ${what}.`, {
      hint: "Try again later, or give the region more machines.",
      retryAfterMs: pauseOf(headers),
    });

  if (isRedirect(status)) {
    const hint = "Set REGION_URL to the address that answers.";
    return failed("broken", "redirects requests, and redirects are not followed", hint);
  }
  const fault = requestFaults.has(status) ? dialect.faultOf(json, texts) : undefined;
  if (fault) return new RegionFailure("refused", fault);
  if (status === 413) return failed("refused", "refused a request as too large", "Raise `maxBodyBytes` of the region.");
  const code = v.is(ErrorBody, json) ? json.error.code : undefined;
  if (code === "model_unknown") {
    const hint = "Name the model in MODEL of the region too, and prepare it with a regional target.";
    return failed("lacks-model", "does not serve the model", hint);
  }
  if (status === 429 || (status === 503 && code === "overloaded")) {
    return new RegionFailure("busy", overloaded("is overloaded"), waitOf(headers));
  }
  if (status === 504 && code === "budget_exceeded") {
    return new RegionFailure("refused", overloaded("cannot answer within the latency budget"));
  }
  const hint = `Check ${suspects[status] ?? settings[0]} and the region's log.`;
  return failed("broken", `answered with HTTP ${status}`, hint);
}

function jsonOf(body = ""): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Wait after a refusal that names none, in ms: some gateways do not send `retry-after`. */
const DEFAULT_WAIT_MS = 1_000;

/** Longest wait that a region may ask for, in ms: a wrong one must not stop callers for hours. */
const MAX_WAIT_MS = 60_000;

/** Returns the first valid time in milliseconds, up to `MAX_WAIT_MS`; without any, `DEFAULT_WAIT_MS`. */
const firstWait = (...times: number[]): number =>
  Math.min(times.find((ms) => ms >= 0 && Number.isFinite(ms)) ?? DEFAULT_WAIT_MS, MAX_WAIT_MS);

const numberOf = (headers: Headers, name: string): number => Number.parseFloat(headers.get(name) ?? "");

/** Reads the pause in milliseconds that a refusal asks for. A date is not read: clocks of machines differ. */
const pauseOf = (headers: Headers): number =>
  firstWait(numberOf(headers, "retry-after-ms"), 1_000 * numberOf(headers, "retry-after"));

/** Returns the wait of a new request in ms: the region's queue, or else the pause. The pause is longer, to spread the retries. */
const waitOf = (headers: Headers): number => firstWait(numberOf(headers, QUEUE_HEADER), pauseOf(headers));

/** Longest chain of causes that is logged. */
const MAX_CAUSES = 5;

/** Logs a failure of the region as a line of JSON, with the ids of the request's trace, and with what happens `next`. */
export function logFailure(
  { code, message, hint, cause }: BertEdgeError,
  { trace, next }: { trace?: RequestTrace | undefined; next?: string | undefined } = {},
): void {
  const line = { "bert-edge": code, message: next ? `${message} ${next}` : message, hint, cause: reasonsOf(cause) };
  console.error(JSON.stringify({ ...line, ...trace }));
}

/** Returns the messages of an error and of its causes, without stack traces; undefined without an error. */
function reasonsOf(cause: unknown, most = MAX_CAUSES): string | undefined {
  if (cause === undefined || most === 0) return undefined;
  if (!(cause instanceof Error)) return String(cause);
  const deeper = reasonsOf(cause.cause, most - 1);
  return [cause.message || cause.name, ...(deeper === undefined ? [] : [deeper])].join(": ");
}
