import type { S3ClientConfig } from "@aws-sdk/client-s3";

/** Error codes for answers that no correct S3 service gives. */
export const ANSWER_TOO_LARGE = "AnswerTooLarge";
export const ENDLESS_LIST = "EndlessList";
export const CUT_LIST = "CutList";

/** Maximum bytes of an answer that is read into memory. A page with 1,000 keys of 1 KiB has 6 MB if every byte is escaped. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Maximum number of pages of a list. A page has up to 1,000 objects. */
const MAX_PAGES = 10_000;

/** Reads the XML of an answer in place of the SDK's own collector, and stops as soon as it is larger than `MAX_ANSWER_BYTES`. */
export const boundedCollector: NonNullable<S3ClientConfig["streamCollector"]> = (stream: AsyncIterable<Uint8Array>) =>
  collected(stream, MAX_ANSWER_BYTES);

/** Reads a stream, and stops as soon as it is larger than `maxBytes`. */
export async function collected(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.length;
    // Leaving the loop ends the stream, and with it the connection.
    if (bytes > maxBytes) throw refusal(ANSWER_TOO_LARGE);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes);
}

/** Makes a function to call with the token of each page of a list. It throws if a token repeats, or after `MAX_PAGES` pages. */
export function pageCounter(): (token: string | undefined) => void {
  const seen = new Set<string | undefined>();
  return (token) => {
    if (seen.has(token) || seen.size === MAX_PAGES) throw refusal(ENDLESS_LIST);
    seen.add(token);
  };
}

/**
 * Returns the token of the next page of a list; undefined after the last page. Throws if the service cuts the list off without a token:
 * `gc` would take the list for complete, and remove what the missing versions need.
 */
export function nextToken(page: { IsTruncated?: boolean | undefined }, token: string | undefined): string | undefined {
  if (!page.IsTruncated) return undefined;
  if (!token) throw refusal(CUT_LIST);
  return token;
}

/** Makes an error with `$metadata`. Without it, the SDK would add text to the message. */
const refusal = (code: string) => Object.assign(new Error(code), { name: code, code, $metadata: {} });
