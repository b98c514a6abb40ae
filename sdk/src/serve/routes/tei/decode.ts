import { TeiDecodeRequest } from "../../contract/tei.ts";
import type { TokenizerRoute } from "./tokenizer-handler.ts";

/** `POST /decode` of text-embeddings-inference. Ids that are in no vocabulary are left out. */
export const teiDecodeRoute: TokenizerRoute<typeof TeiDecodeRequest> = {
  schema: TeiDecodeRequest,
  items: ({ ids }) => listsIn(ids),
  answer: ({ tokenizer }, { ids, skip_special_tokens }) =>
    listsIn(ids).map((list) => tokenizer.vocabulary.decode(list, { skipSpecial: skip_special_tokens ?? true })),
};

const listsIn = (ids: readonly number[] | readonly (readonly number[])[]): readonly (readonly number[])[] =>
  ids.every((id) => typeof id === "number") ? [ids] : (ids as readonly (readonly number[])[]);
