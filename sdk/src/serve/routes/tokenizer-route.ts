import type * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { nextTurn } from "../../artifact/next-turn.ts";
import { totalLength } from "../../artifact/total-length.ts";
import { backgroundOf } from "../../runtime/background.ts";
import type { Model } from "../../runtime/model.ts";
import { checkSize } from "../check-query.ts";
import { hintsWith, jsonBody } from "../middleware/body.ts";
import { noted } from "../middleware/variables.ts";
import { jsonResponse } from "./in-parts.ts";
import type { Route, RouteDescription } from "./task-route.ts";

/** Maximum number of characters or token ids of a request. The request does not wait for a turn, and a token adds 50 bytes of answer. */
const MAX_LENGTH = 100_000;
/** Maximum bytes of memory of the answer per character or token id: a token as an object and as text. */
const BYTES_PER_CHARACTER = 160;
/** Number of characters or token ids after which other requests can run. */
const TURN_LENGTH = 10_000;

type Item = string | readonly number[];

/** Bodies of requests that can name a model. */
type TokenizerBody = v.GenericSchema<unknown, { readonly model?: string | undefined }>;

/** A route that needs only the model's tokenizer. */
interface TokenizerRoute<S extends TokenizerBody, I extends Item> extends RouteDescription<S, v.GenericSchema> {
  /** Returns the items of a body. At most `limits.maxInputs` items are allowed. */
  items(body: v.InferOutput<S>): readonly I[];
  /** Answers for one item. */
  answer(model: Model, item: I, body: v.InferOutput<S>): unknown;
}

/** Makes a route that needs only the model's tokenizer. */
export const tokenizerAt = <S extends TokenizerBody, I extends Item>(
  path: string,
  { items, answer, ...route }: TokenizerRoute<S, I>,
): Route => ({
  ...route,
  path,
  runsModel: false,
  handler: ({ service, limits }) =>
    async function handleTokenizer(c) {
      const body = await jsonBody(c, route.schema, {
        hint: hintsWith(route.example),
        maxItems: limits.maxInputs,
      });
      const all = items(body);
      checkSize(all.length, limits.maxInputs);
      checkLength(all);
      noted(c, "flight")?.hold.reserve(BYTES_PER_CHARACTER * totalLength(all));
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
        return jsonResponse(c, answers);
      };
      return service(c.env).using(backgroundOf(c), work, c.req.param("model") ?? body.model);
    },
});

/** @throws BertEdgeError `request_invalid` */
function checkLength(items: readonly Item[]): void {
  const length = totalLength(items);
  if (length <= MAX_LENGTH) return;
  const unit = typeof items[0] === "string" ? "characters" : "token ids";
  const what = `The request has ${length} ${unit}, but this route takes up to ${MAX_LENGTH}.`;
  throw new BertEdgeError("request_invalid", what, { hint: "Send the inputs in several requests." });
}
