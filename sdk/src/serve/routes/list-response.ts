import type { Context } from "hono";
import { nextTurn } from "../../artifact/next-turn.ts";

/** Characters after which other requests may run: about 1 ms of formatting. */
const PART_CHARACTERS = 100_000;

/** A long list, and where it is in an answer. */
interface LongList<B extends object> {
  /** The answer, with an empty list `list`. Default: the answer is the list itself. */
  readonly frame?: { readonly body: B; readonly list: keyof B & string };
  readonly count: number;
  /** Returns the JSON text of an item. It is called once for each index, in order. */
  readonly item: (index: number) => string;
}

/**
 * Answers with JSON that has a long list. A list of more than one part is formatted while the client reads it: other
 * requests run between the parts, and the whole text never is in memory.
 */
export function listResponse<B extends object>(c: Context, { frame, count, item }: LongList<B>): Response {
  const [head, tail] = frame ? around(frame) : ["", ""];

  let next = 0;
  const part = (): string => {
    let text = next === 0 ? `${head}[` : "";
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

/** Returns the JSON text before and after the empty list. */
function around<B extends object>({ body, list }: NonNullable<LongList<B>["frame"]>): [head: string, tail: string] {
  // Quotation marks inside of JSON strings are escaped, so this text occurs only once.
  const [head, tail] = JSON.stringify(body).split(`"${list}":[]`) as [string, string];
  return [`${head}"${list}":`, tail];
}
