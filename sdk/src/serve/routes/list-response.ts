import type { Context } from "hono";
import { nextTurn } from "../../artifact/next-turn.ts";

/** Characters after which other requests may run: about 1 ms of formatting. */
const PART_CHARACTERS = 100_000;

/**
 * Answers with JSON that has a long list. A list of more than one part is formatted while the client reads it: other
 * requests run between the parts, and the whole text never is in memory.
 *
 * @param body the answer, with an empty list `list`
 * @param items the JSON text of each item of the list; called once for each index, in order
 */
export function listResponse<B extends object>(
  c: Context,
  { body, list, count, item }: { body: B; list: keyof B & string; count: number; item: (index: number) => string },
): Response {
  // Quotation marks inside of JSON strings are escaped, so this text occurs only once.
  const empty = `"${list}":[]`;
  const [head, tail] = JSON.stringify(body).split(empty) as [string, string];

  let next = 0;
  const part = (): string => {
    let text = next === 0 ? `${head}"${list}":[` : "";
    while (next < count && text.length < PART_CHARACTERS) text += (next === 0 ? "" : ",") + item(next++);
    return next === count ? `${text}]${tail}` : text;
  };

  c.header("content-type", "application/json");
  const first = part();
  if (next === count) return c.body(first);
  const encoder = new TextEncoder();
  return c.body(
    new ReadableStream({
      start: (stream) => stream.enqueue(encoder.encode(first)),
      async pull(stream) {
        await nextTurn();
        stream.enqueue(encoder.encode(part()));
        if (next === count) stream.close();
      },
    }),
  );
}
