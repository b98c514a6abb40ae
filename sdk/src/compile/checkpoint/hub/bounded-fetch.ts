import { boundedText } from "../../../storage/bounded-text.ts";
import { wrongAnswer } from "./hub-error.ts";

/** Bytes of all answers together. The entry of a file has about 300 bytes. */
const MAX_BYTES = 32e6;
/** A page of a list has up to 1,000 files: https://huggingface.co/docs/hub/api */
const MAX_ANSWERS = 200;

/**
 * Makes a `fetch` for one question to the Hub's API. All answers together are limited, because the caller keeps them in
 * memory: their number and their bytes.
 *
 * @throws BertEdgeError `hub_answer_invalid`, and the errors of `fetch`
 */
export function boundedFetch(
  fetch: typeof globalThis.fetch,
  { maxBytes = MAX_BYTES, maxAnswers = MAX_ANSWERS } = {},
): typeof globalThis.fetch {
  let [bytes, answers] = [0, 0];
  return async (input, init) => {
    const { host } = new URL(input instanceof Request ? input.url : input);
    if (++answers > maxAnswers) throw wrongAnswer(host, `sent a list of more than ${maxAnswers} pages`);
    const response = await fetch(input, init);
    const text = await boundedText(response, maxBytes - bytes);
    if (text === undefined) throw wrongAnswer(host, `answered with more than ${maxBytes / 1e6} MB`);
    bytes += Buffer.byteLength(text);
    return new Response(text, { status: response.status, headers: response.headers });
  };
}
