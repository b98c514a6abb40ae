import { BertEdgeError } from "../../../artifact/error.ts";
import { promptOf } from "../../../runtime/tasks/prompt.ts";
import type { Tokenizer } from "../../../runtime/tokenizer/tokenizer.ts";
import { textsIn } from "../../contract/fields.ts";
import { type TeiToken, TeiTokenizeRequest, teiResponses } from "../../contract/tei.ts";
import { codePointsBefore } from "../code-points.ts";
import type { TokenizerRoute } from "./tokenizer-handler.ts";

/** `POST /tokenize` of text-embeddings-inference. Texts are not cut. */
export const teiTokenizeRoute: TokenizerRoute<typeof TeiTokenizeRequest, string> = {
  schema: TeiTokenizeRequest,
  about: {
    summary: "Tokens of texts, for clients of text-embeddings-inference",
    example: { inputs: "to be" },
    response: teiResponses.tokenize,
  },
  items: ({ inputs }) => textsIn(inputs),
  answer({ tokenizer, manifest }, text, { add_special_tokens, prompt_name }) {
    const prompted = prompt_name ? promptOf(manifest, prompt_name) + text : text;
    return tokensOf(tokenizer, prompted).filter(({ special }) => add_special_tokens || !special);
  },
};

function tokensOf(tokenizer: Tokenizer, text: string): TeiToken[] {
  const { ids, offsets, words } = placedOrNot(tokenizer, text);
  const { vocabulary } = tokenizer;
  const position = codePointsBefore(text);
  return Array.from(ids, (id, i): TeiToken => {
    const special = words ? words[i] === -1 : vocabulary.isSpecial(id);
    if (special || !offsets) {
      return { id, text: vocabulary.spellingOf(id) ?? "", special, start: null, stop: null };
    }
    const [start, stop] = [offsets[2 * i] as number, offsets[2 * i + 1] as number];
    return { id, text: text.slice(start, stop), special, start: position(start), stop: position(stop) };
  });
}

/** Tokenizers without a packed form do not know where tokens are. */
function placedOrNot(tokenizer: Tokenizer, text: string) {
  try {
    return tokenizer.encodePlaced(text, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof BertEdgeError && error.code === "offsets_unsupported")) throw error;
    const { ids } = tokenizer.encode(text, Number.POSITIVE_INFINITY);
    return { ids, offsets: undefined, words: undefined };
  }
}
