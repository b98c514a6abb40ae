import { wrongAnswer } from "./hub-error.ts";

/**
 * Returns the content of a file from byte `offset` on. Servers may answer a request for a part with the whole file:
 * https://httpwg.org/specs/rfc9110.html#field.range
 *
 * @param response the answer to a request for the bytes from `offset` on
 * @throws BertEdgeError `hub_answer_invalid` if this is another part
 */
export async function* bodyFrom(response: Response, offset: number, host: string): AsyncGenerator<Uint8Array> {
  const { status, headers, body } = response;
  if (status === 206 && !headers.get("content-range")?.startsWith(`bytes ${offset}-`)) {
    await body?.cancel();
    throw wrongAnswer(host, `was asked for the bytes from ${offset} on, and sent others`);
  }
  let skip = status === 206 ? 0 : offset;
  for await (const chunk of body ?? []) {
    const skipped = Math.min(skip, chunk.length);
    skip -= skipped;
    if (skipped < chunk.length) yield chunk.subarray(skipped);
  }
}
