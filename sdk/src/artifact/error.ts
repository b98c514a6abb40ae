import type { ErrorCode } from "./error-codes.ts";

/**
 * Ways to fix an error, each of which is enough. A string is used as it is: it addresses the operator, or concerns no field. An object is
 * a change of the request. Each route words it, because dialects name fields differently.
 */
export type Advice = readonly (
  | string
  | { readonly set: string; readonly to: unknown; readonly why?: string }
  | { readonly set: string; readonly among: readonly unknown[] }
  | { readonly remove: string }
  /** Sends the request to the route of a task. */
  | { readonly task: string }
)[];

/** Words of a route for the fields and tasks in advice. */
export interface Wording {
  /** Returns the name and the value that a field has in the dialect of the route. */
  field?(name: string, value: unknown): readonly [field: string, value: unknown];
  /** Tells the caller which route performs a task. */
  task?(task: string): string;
}

/** Writes advice as a sentence. Default: in the words of bert-edge's own routes. */
export function sentenceOf(advice: Advice, { field = ownField, task = useFor }: Wording = {}): string {
  const words = advice.map((change) => {
    if (typeof change === "string") return change;
    if ("task" in change) return task(change.task);
    if ("remove" in change) return `leave ${field(change.remove, undefined)[0]} out`;
    const [name, value] = field(change.set, "to" in change ? change.to : change.among);
    if ("among" in change)
      return `set ${name} to one of ${change.among.map((each) => JSON.stringify(each)).join(", ")}`;
    return `set ${name} to ${JSON.stringify(value)}${change.why ? ` ${change.why}` : ""}`;
  });
  const sentence = words.join(", or ");
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}.`;
}

const ownField = (name: string, value: unknown) => [`\`${name}\``, value] as const;
const useFor = (task: string) => `use it for the task ${task}`;

export interface BertEdgeErrorDetails {
  readonly hint?: string | Advice | undefined;
  readonly index?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * The class of every error that this package throws on purpose.
 *
 * `message` says what went wrong and where; `hint` says how to fix it. Programs should branch on `code`, which stays the
 * same across versions.
 */
export class BertEdgeError extends Error {
  override readonly name: string = "BertEdgeError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  /** The hint as data, from which a route makes its own sentence. */
  readonly advice: Advice | undefined;
  /** Index of the input at fault; undefined if the error is not about one input. */
  readonly index: number | undefined;
  /** Milliseconds after which a retry makes sense; undefined if the time is not known, or if a retry never helps. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, { hint, index, retryAfterMs, cause }: BertEdgeErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.advice = typeof hint === "string" ? undefined : hint;
    this.hint = typeof hint === "object" ? sentenceOf(hint) : hint;
    this.index = index;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Reads the header `Retry-After` of a response: seconds, or a date (https://httpwg.org/specs/rfc9110.html#field.retry-after).
 *
 * @param now the present time, in ms
 * @returns milliseconds to wait; undefined if the header is missing, or has neither form
 */
export function retryAfterOf(headers: Headers, now = Date.now()): number | undefined {
  const after = headers.get("retry-after") ?? "";
  if (/^\d{1,9}$/.test(after)) return 1_000 * Number(after);
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
