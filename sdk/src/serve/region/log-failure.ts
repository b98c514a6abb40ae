import type { BertEdgeError } from "../../artifact/error.ts";
import type { RequestTrace } from "../trace.ts";

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
