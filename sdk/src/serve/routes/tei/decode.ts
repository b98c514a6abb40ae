import { TeiDecodeRequest, teiResponses } from "../../contract/tei.ts";
import type { TokenizerRoute } from "./tokenizer-handler.ts";

/** `POST /decode` of text-embeddings-inference. Ids that are in no vocabulary are left out. */
export const teiDecodeRoute: TokenizerRoute<typeof TeiDecodeRequest, readonly number[]> = {
  schema: TeiDecodeRequest,
  about: {
    summary: "Texts of token ids, for clients of text-embeddings-inference",
    example: { ids: [[101, 102]] },
    response: teiResponses.decode,
  },
  items: ({ ids }) => listsIn(ids),
  answer: ({ tokenizer }, ids, { skip_special_tokens }) =>
    tokenizer.vocabulary.decode(ids, { skipSpecial: skip_special_tokens ?? true }),
};

const listsIn = (ids: readonly number[] | readonly (readonly number[])[]): readonly (readonly number[])[] =>
  ids.every((id) => typeof id === "number") ? [ids] : (ids as readonly (readonly number[])[]);
