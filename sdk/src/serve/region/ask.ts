import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { boundedText } from "../../storage/bounded-text.ts";
import { isRedirect } from "../../storage/is-redirect.ts";
import { PROVIDER_HEADER, QUEUE_HEADER } from "../contract/headers.ts";
import type { RequestTrace } from "../trace.ts";
import type { RegionOutputs, RegionQuestion, RegionReport } from "./dialects/dialect.ts";
import type { ExpectedAnswer } from "./expected-answer.ts";
import { connectionFailed, type RegionConnection } from "./region-connection.ts";

/** The answer of a region to a question. */
export interface RegionReply extends RegionOutputs {
  /** The execution provider, as the region names it. */
  readonly provider: string;
  /**
   * Returns the times that the region reported; undefined if it reported none.
   *
   * @param tookMs milliseconds of the whole fetch, which no part can exceed
   */
  report(tookMs: number): RegionReport | undefined;
}

interface AskOptions {
  readonly expected: ExpectedAnswer;
  /** Headers of our own: budget, precision, names of the request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A response that is not an answer. */
export class RegionRefused extends Error {
  readonly refusal: RegionRefusal;

  constructor(refusal: RegionRefusal) {
    super(refusal.error.message);
    this.refusal = refusal;
  }
}

/**
 * Asks a region, in as many requests at a time as it needs for the inputs. If one fails, the others are stopped.
 *
 * @throws RegionRefused when a response is not an answer
 * @throws BertEdgeError `region_failed` when an answer is not the expected one
 */
export async function ask(
  connection: RegionConnection,
  question: RegionQuestion,
  options: AskOptions,
): Promise<RegionReply> {
  const { expected } = options;
  const { maxInputs } = connection;
  const count = expected.lengths.length;
  if (count <= maxInputs) return askOnce(connection, question, options);
  const failure = new AbortController();
  const signal = AbortSignal.any([options.signal, failure.signal]);
  const starts = Array.from({ length: Math.ceil(count / maxInputs) }, (_, part) => part * maxInputs);
  const parts = starts.map((start) => {
    const range = [start, start + maxInputs] as const;
    const lengths = expected.lengths.slice(...range);
    return askOnce(connection, partOf(question, range), {
      ...options,
      signal,
      expected: { ...expected, lengths, tokens: undefined },
    });
  });
  try {
    return joined(await Promise.all(parts), expected);
  } catch (error) {
    failure.abort();
    throw error;
  }
}

const partOf = (
  { inputs, sequences, ...question }: RegionQuestion,
  range: readonly [start: number, end: number],
): RegionQuestion => ({
  ...question,
  inputs: inputs.slice(...range),
  sequences: sequences?.slice(...range),
});

async function askOnce(
  connection: RegionConnection,
  question: RegionQuestion,
  { expected, headers, signal }: AskOptions,
): Promise<RegionReply> {
  const { transport, dialect } = connection;
  const response = await transport.post(dialect.path, dialect.body(question), headers, signal);
  const maxBytes = response.ok ? dialect.maxAnswerBytes(expected.lengths) : MAX_ERROR_BYTES;
  const body = await boundedText(response, maxBytes);
  if (!response.ok) throw new RegionRefused(readRefusal(response, body, question.inputs.length, connection));
  if (body === undefined) throw connectionFailed(connection, `sent more than the ${maxBytes} bytes of an answer`);
  return {
    ...dialect.readAnswer(body, expected),
    provider: dialect.provider ?? providerOf(response),
    report: (tookMs) => dialect.readReport(response.headers, tookMs),
  };
}

/** Returns the provider that the region names. It becomes a header of the edge's own answer. */
function providerOf({ headers }: Response): string {
  const provider = headers.get(PROVIDER_HEADER) ?? "";
  return /^[a-z0-9-]{1,32}$/.test(provider) ? provider : "unknown";
}

/** Joins the parts of an answer. The computation of all parts took as long as the slowest one was in the region. */
function joined(parts: readonly RegionReply[], { tokens = 0, version }: ExpectedAnswer): RegionReply {
  return {
    outputs: parts.flatMap(({ outputs }) => outputs),
    tokens,
    version,
    provider: (parts[0] as RegionReply).provider,
    report(tookMs) {
      const reports = parts.map(({ report }) => report(tookMs));
      const totals = reports.flatMap((report) => report?.totalMs ?? []);
      if (totals.length < parts.length) return undefined;
      const totalMs = Math.max(...totals);
      return { totalMs, queuedMs: 0, computedMs: totalMs, waitMs: 0 };
    },
  };
}

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

/** Longest chain of causes that is read. */
const MAX_CAUSES = 5;

/**
 * Logs a failure of the region as one line of JSON, which log services can search.
 *
 * @param options.trace the names of the request that failed; undefined for a probe
 * @param options.next what happens next
 */
export function logFailure(
  error: BertEdgeError,
  { trace, next }: { trace?: RequestTrace | undefined; next?: string | undefined } = {},
): void {
  const { code, message, hint, cause } = error;
  const line = { "bert-edge": code, message: next ? `${message} ${next}` : message, hint, cause: reasonsOf(cause) };
  console.error(JSON.stringify({ ...line, ...trace }));
}

/** Returns the messages of an error and of its causes, without stack traces; undefined without an error. */
function reasonsOf(cause: unknown): string | undefined {
  const messages: string[] = [];
  for (let each = cause; each !== undefined && messages.length < MAX_CAUSES; ) {
    messages.push(each instanceof Error ? each.message || each.name : String(each));
    each = each instanceof Error ? each.cause : undefined;
  }
  return messages.length > 0 ? messages.join(": ") : undefined;
}
