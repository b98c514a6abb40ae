import type { Context } from "hono";
import { nextTurn } from "../../artifact/next-turn.ts";
import { noted } from "../middleware/variables.ts";
import type { Hold } from "../queue/caller.ts";

/** Characters after which other requests may run: about 1 ms of formatting. */
const PART_CHARACTERS = 100_000;

/** Maximum time in ms until the client reads the next part. After it, the answer is dropped. So the client needs a rate of 7 kB/s. */
const UNREAD_MS = 15_000;

/**
 * Answers with JSON that contains a long list: in place of the empty list in `body`, or the list alone. The client gets the text in
 * parts. Other requests run between the parts, and the whole text is never in memory.
 */
export function listResponse<Item>(
  c: Context,
  items: readonly Item[],
  format: (item: Item, index: number) => string,
  body?: object,
): Response {
  // Splits at `":[]` after a field's name. No string contains this text: in JSON, a backslash precedes each quotation mark of a string.
  const [head, tail] = body ? JSON.stringify(body).split(/(?<=\w":)\[\]/) : ["", ""];
  return inParts(
    c,
    (function* () {
      let text = `${head}[`;
      for (const [index, item] of items.entries()) {
        if (text.length >= PART_CHARACTERS) {
          yield text;
          text = "";
        }
        text += (index === 0 ? "" : ",") + format(item, index);
      }
      return `${text}]${tail}`;
    })(),
  );
}

/**
 * Answers with JSON. The client gets a long text in parts. The text counts as memory of the request until all of it is sent.
 *
 * @throws BertEdgeError `overloaded` if there is no room for the text
 */
export function jsonResponse(c: Context, value: unknown): Response {
  const text = JSON.stringify(value);
  noted(c, "flight")?.hold.reserve(2 * text.length);
  return inParts(
    c,
    (function* () {
      let at = 0;
      for (; at + PART_CHARACTERS < text.length; at += PART_CHARACTERS) yield text.slice(at, at + PART_CHARACTERS);
      return text.slice(at);
    })(),
  );
}

/** The parts of an answer. The last one is what the iterator returns. */
type Parts = Iterator<string, string>;

function inParts(c: Context, parts: Parts): Response {
  c.header("content-type", "application/json");
  const { value, done } = parts.next();
  // A single item can be long.
  const isShort = done && value.length <= 2 * PART_CHARACTERS;
  return c.body(isShort ? value : heldWhileRead(streamOf(value, parts), noted(c, "flight")?.hold));
}

/** Makes a stream that computes each part when it is read. Other requests run between the parts. */
function streamOf(first: string, others: Parts): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let parts: Parts | undefined = others;
  return new ReadableStream(
    {
      start: (stream) => stream.enqueue(encoder.encode(first)),
      async pull(stream) {
        await nextTurn();
        const next = parts?.next();
        if (!next) return;
        if (next.value) stream.enqueue(encoder.encode(next.value));
        if (next.done) stream.close();
      },
      cancel() {
        parts = undefined;
      },
    },
    { highWaterMark: 0 },
  );
}

/** Passes on a stream. The request counts as in flight until all of it is read, or until the client reads no more of it. */
export function heldWhileRead(stream: ReadableStream<Uint8Array>, hold: Hold | undefined): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let unread: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  function end(): void {
    clearTimeout(unread);
    if (!isOver) hold?.release();
    isOver = true;
  }

  hold?.retain();
  return new ReadableStream({
    async pull(passOn) {
      clearTimeout(unread);
      try {
        const { done, value } = await reader.read();
        if (isOver) return;
        if (done) {
          end();
          passOn.close();
          return;
        }
        passOn.enqueue(value);
      } catch (error) {
        end();
        throw error;
      }
      hold?.keep(2 * UNREAD_MS);
      unread = setTimeout(() => {
        end();
        const error = new Error(`The client read nothing for ${UNREAD_MS} ms.`);
        reader.cancel(error).catch(() => {});
        passOn.error(error);
      }, UNREAD_MS);
    },
    cancel(reason) {
      end();
      return reader.cancel(reason);
    },
  });
}
