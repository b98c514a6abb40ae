import type { Handler } from "hono";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { nextTurn } from "../../artifact/next-turn.ts";
import type { Model } from "../../runtime/model.ts";
import { promptOf } from "../../runtime/tasks/prompt.ts";
import type { Tokenizer } from "../../runtime/tokenizer/tokenizer.ts";
import { backgroundOf } from "../background.ts";
import { checkSize } from "../check-query.ts";
import { Texts, TokenIdLists, textsIn } from "../contract/fields.ts";
import { jsonBody } from "../middleware/body.ts";
import { codePointsBefore } from "../routes/code-points.ts";
import type { Route } from "../routes/dialect.ts";
import type { RouteDescription } from "../routes/task-route.ts";
import type { Serving } from "../service.ts";

/** The body of `POST /tokenize`. */
const TeiTokenizeRequest = v.object({
  inputs: Texts,
  add_special_tokens: v.nullish(v.boolean(), true),
  prompt_name: v.nullish(v.string()),
});

const TeiToken = v.object({
  id: v.number(),
  /** The part of the text; of a special token, its spelling. */
  text: v.string(),
  special: v.boolean(),
  /** Code points before and up to the end of the token; null for special tokens. */
  start: v.nullable(v.number()),
  stop: v.nullable(v.number()),
});
type TeiToken = v.InferOutput<typeof TeiToken>;

/** The body of `POST /decode`. */
const TeiDecodeRequest = v.object({
  ids: TokenIdLists,
  skip_special_tokens: v.nullish(v.boolean(), true),
});

/** `POST /tokenize` of text-embeddings-inference. Texts are not cut. */
const tokenizeRoute: TokenizerRoute<typeof TeiTokenizeRequest, string> = {
  schema: TeiTokenizeRequest,
  about: {
    summary: "Tokens of texts, for clients of text-embeddings-inference",
    example: { inputs: "to be" },
    response: v.array(v.array(TeiToken)),
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

/** `POST /decode` of text-embeddings-inference. Ids that are in no vocabulary are left out. */
const decodeRoute: TokenizerRoute<typeof TeiDecodeRequest, readonly number[]> = {
  schema: TeiDecodeRequest,
  about: {
    summary: "Texts of token ids, for clients of text-embeddings-inference",
    example: { ids: [[101, 102]] },
    response: v.array(v.string()),
  },
  items: ({ ids }) => listsIn(ids),
  answer: ({ tokenizer }, ids, { skip_special_tokens }) =>
    tokenizer.vocabulary.decode(ids, { skipSpecial: skip_special_tokens ?? true }),
};

const listsIn = (ids: readonly number[] | readonly (readonly number[])[]): readonly (readonly number[])[] =>
  ids.every((id) => typeof id === "number") ? [ids] : (ids as readonly (readonly number[])[]);

/**
 * Characters of all texts of a request, or its token ids, at most. These routes do not wait for their turn, and an answer has about
 * 50 bytes for each token.
 */
const MAX_LENGTH = 100_000;
/** Characters or token ids after which other requests can run. */
const TURN_LENGTH = 10_000;

/** A route that needs only the model's tokenizer. */
interface TokenizerRoute<S extends v.GenericSchema, Item extends string | readonly number[]> {
  readonly schema: S;
  readonly about: RouteDescription<S>;
  /** Returns the items of a body, which `limits.maxInputs` counts. */
  items(body: v.InferOutput<S>): readonly Item[];
  /** Answers for one item. */
  answer(model: Model, item: Item, body: v.InferOutput<S>): unknown;
}

/** Makes the handler of a route. */
const tokenizerHandler = <Env extends object, S extends v.GenericSchema, Item extends string | readonly number[]>(
  { service, limits }: Serving<Env>,
  { schema, items, answer }: TokenizerRoute<S, Item>,
): Handler<{ Bindings: Env }> =>
  async function handleTokenizer(c) {
    const body: v.InferOutput<S> = await jsonBody(c, schema, { maxItems: limits.maxInputs });
    const all = items(body);
    checkSize(all.length, limits.maxInputs);
    checkLength(all);
    const work = async (model: Model) => {
      const answers: unknown[] = [];
      let sinceTurn = 0;
      for (const item of all) {
        if (sinceTurn > TURN_LENGTH) {
          await nextTurn();
          c.req.raw.signal.throwIfAborted();
          sinceTurn = 0;
        }
        sinceTurn += item.length;
        answers.push(answer(model, item, body));
      }
      return c.json(answers);
    };
    return service(c.env).using(backgroundOf(c), work, c.req.param("model"));
  };

/** @throws BertEdgeError `request_invalid` */
function checkLength(items: readonly (string | readonly number[])[]): void {
  const length = items.reduce((sum, item) => sum + item.length, 0);
  if (length <= MAX_LENGTH) return;
  const unit = typeof items[0] === "string" ? "characters" : "token ids";
  throw new BertEdgeError(
    "request_invalid",
    `The request has ${length} ${unit}, but this route takes up to ${MAX_LENGTH}.`,
    {
      hint: "Send the inputs in several requests.",
    },
  );
}

const tokenizerAt = <S extends v.GenericSchema, Item extends string | readonly number[]>(
  path: string,
  route: TokenizerRoute<S, Item>,
): Route => ({
  path,
  schema: route.schema,
  about: route.about,
  runsModel: false,
  handler: (serving) => tokenizerHandler(serving, route),
});

/** Routes of text-embeddings-inference that need only the model's tokenizer. */
export const teiTokenizerRoutes: readonly Route[] = [
  tokenizerAt("/decode", decodeRoute),
  tokenizerAt("/tokenize", tokenizeRoute),
];
