import type { Context } from "hono";
import { nextTurn } from "../../artifact/next-turn.ts";

/** Characters after which other requests may run: about 1 ms of formatting. */
const PART_CHARACTERS = 100_000;

/**
 * Answers with JSON that has a long list: the empty one of `body`, or the list itself. The client gets it in parts: other requests
 * run between them, and the whole text never is in memory.
 */
export function listResponse<Item>(
  c: Context,
  items: readonly Item[],
  format: (item: Item, index: number) => string,
  body?: object,
): Response {
  // In strings, a quotation mark follows a backslash, so this text is in none.
  const [head, tail] = body ? JSON.stringify(body).split(/(?<=\w":)\[\]/) : ["", ""];
  const count = items.length;

  let next = 0;
  const part = (): string => {
    let text = next === 0 ? `${head}[` : "";
    for (; next < count && text.length < PART_CHARACTERS; next++) {
      text += (next === 0 ? "" : ",") + format(items[next] as Item, next);
    }
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
