import type { Manifest, Task } from "../../artifact/manifest.ts";
import type { MarkedTokens, TokenIds } from "../engine/engine.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Side } from "../truncation.ts";

/** Role of a text in a search: models for late interaction read queries and documents differently. */
export const searchRoles = ["query", "document"] as const;
export type SearchRole = (typeof searchRoles)[number];

/** Rules by which a model for late interaction reads queries and documents. */
export type Protocol = NonNullable<Extract<Manifest, { task: "token-vectors" }>["protocol"]>;

export const protocolOf = (task: Task): Protocol | undefined =>
  task.task === "token-vectors" ? task.protocol : undefined;

/**
 * Whether a character is white space for Python's `str.strip`: JavaScript's white space without U+FEFF, and with U+0085 and the
 * separators U+001C to U+001F.
 */
const isBlank = (character: string): boolean =>
  /[\s\x85]/.test(character) ? character !== "\ufeff" : character >= "\x1c" && character <= "\x1f";

/** Removes white space from both ends of a text, as PyLate does. Takes time linear in the text's length. */
function stripped(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text.charAt(start))) start++;
  while (end > start && isBlank(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/**
 * Encodes a query or a document as ColBERT does (https://arxiv.org/abs/2004.12832): puts the marker of its role after the first
 * token, and fills a query up with expansion tokens.
 *
 * @param side end at which a text is cut if it is longer than its role allows
 * @returns the sequence, and its number of tokens before it was cut
 */
export function encodeRole(
  tokenizer: Pick<Tokenizer, "encode">,
  text: string,
  { protocol, role, side }: { readonly protocol: Protocol; readonly role: SearchRole; readonly side?: Side },
): { readonly sequence: MarkedTokens; readonly tokens: number } {
  const { length, marker } = protocol[role];
  const markers = marker === undefined ? [] : [marker];
  const content = stripped(protocol.lowercases ? text.toLowerCase() : text);
  const found = tokenizer.encode(content, length - markers.length, side);
  const ids = Int32Array.of(...found.ids.subarray(0, 1), ...markers, ...found.ids.subarray(1));
  const tokens = found.tokens + markers.length;
  const expansion = role === "query" ? protocol.query.expansion : undefined;
  if (!expansion || ids.length >= length) return { sequence: { ids }, tokens };
  const expanded = new Int32Array(length).fill(expansion.token);
  expanded.set(ids);
  return { sequence: { ids: expanded, ...(!expansion.isAttended && { attended: ids.length }) }, tokens };
}

/**
 * Returns the vectors of a document's tokens without those of skipped tokens, such as punctuation.
 *
 * @param vectors row-major [tokens, dimensions]
 */
export function withoutSkipped(
  vectors: Float32Array<ArrayBuffer>,
  dimensions: number,
  ids: TokenIds,
  skipped: readonly number[],
): Float32Array<ArrayBuffer> {
  const isSkipped = new Set(skipped);
  const kept = [...ids.keys()].filter((token) => !isSkipped.has(ids[token] as number));
  const rows = new Float32Array(kept.length * dimensions);
  for (const [row, token] of kept.entries()) {
    rows.set(vectors.subarray(token * dimensions, (token + 1) * dimensions), row * dimensions);
  }
  return rows;
}
