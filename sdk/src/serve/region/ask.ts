import { boundedText } from "../../storage/bounded-text.ts";
import { PROVIDER_HEADER } from "../contract/headers.ts";
import type { RegionOutputs, RegionQuestion, RegionReport } from "./dialects/dialect.ts";
import type { ExpectedAnswer } from "./expected-answer.ts";
import { connectionFailed, readRefusal } from "./failure.ts";
import type { RegionConnection } from "./region-connection.ts";

/** The answer of a region to a question. */
interface RegionReply extends RegionOutputs {
  /** The execution provider, as the region names it. */
  readonly provider: string;
  /** The times that the region reported; undefined if it reported none. */
  readonly report: RegionReport | undefined;
}

interface AskOptions {
  readonly expected: ExpectedAnswer;
  /** Headers beside the transport's own: budget, precision, caller, and ids of the trace. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Asks a region. More than `maxInputs` inputs are split into several requests, sent at the same time. If one of them fails, the
 * others are stopped.
 *
 * @throws RegionFailure when a response is not an answer
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
  const parts = Array.from({ length: Math.ceil(count / maxInputs) }, (_, part) => {
    const range = [part * maxInputs, (part + 1) * maxInputs] as const;
    const inputs = question.inputs.slice(...range);
    const sequences = question.sequences?.slice(...range);
    const ofPart = { ...expected, lengths: expected.lengths.slice(...range), tokens: undefined };
    return askOnce(connection, { ...question, inputs, sequences }, { ...options, signal, expected: ofPart });
  });
  try {
    return joined(await Promise.all(parts), expected);
  } catch (error) {
    failure.abort();
    throw error;
  }
}

/** Maximum bytes that are read of a body that is not an answer: of an error, or of the response to a probe. */
export const MAX_ERROR_BYTES = 8_192;

async function askOnce(
  connection: RegionConnection,
  question: RegionQuestion,
  { expected, headers, signal }: AskOptions,
): Promise<RegionReply> {
  const { dialect } = connection;
  const request = { body: dialect.body(question, expected), headers, withKey: true };
  const response = await connection.send(dialect.path, request, signal);
  const maxBytes = response.ok ? dialect.maxAnswerBytes(expected.lengths) : MAX_ERROR_BYTES;
  const body = await boundedText(response, maxBytes);
  if (!response.ok) throw readRefusal(response, body, question.inputs.length, connection);
  if (body === undefined) throw connectionFailed(connection, `sent more than ${maxBytes} bytes, an answer's maximum`);
  return {
    ...dialect.readAnswer(body, expected),
    provider: dialect.foreign ?? providerOf(response),
    report: dialect.readReport(response.headers),
  };
}

/** Returns the provider that the region names; `unknown` if its name does not suit a header of the edge's answer. */
function providerOf({ headers }: Response): string {
  const provider = headers.get(PROVIDER_HEADER) ?? "";
  return /^[a-z0-9-]{1,32}$/.test(provider) ? provider : "unknown";
}

/** Joins the parts of an answer. The computation time of the whole answer is the time of the slowest part in the region. */
function joined(parts: readonly RegionReply[], { tokens = 0, version }: ExpectedAnswer): RegionReply {
  const totals = parts.flatMap(({ report }) => (report ? Math.max(report.totalMs, report.computedMs) : []));
  const totalMs = Math.max(...totals);
  const isComplete = totals.length === parts.length;
  return {
    outputs: parts.flatMap(({ outputs }) => outputs),
    tokens,
    version,
    provider: (parts[0] as RegionReply).provider,
    report: isComplete ? { totalMs, queuedMs: 0, computedMs: totalMs } : undefined,
  };
}
