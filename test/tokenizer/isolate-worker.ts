// A Worker that holds a tokenizer, and answers the number of tokens of a text.
import file from "tokenizer";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";

const tokenizer = createPackedTokenizer(new Uint8Array(file), Number.POSITIVE_INFINITY);

export default {
  async fetch(request: Request): Promise<Response> {
    const { ids } = tokenizer.encode(await request.text(), Number.MAX_SAFE_INTEGER);
    return new Response(`${ids.length}`);
  },
};
