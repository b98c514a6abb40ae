import type { Handler } from "hono";
import type * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { nextTurn } from "../../../artifact/next-turn.ts";
import type { Model } from "../../../runtime/model.ts";
import { backgroundOf } from "../../background.ts";
import type { Deployment } from "../../deployment.ts";
import { checkSize } from "../../limits.ts";
import { jsonBody } from "../../middleware/json-body.ts";
import type { RouteDescription } from "../task-route.ts";

/**
 * Characters of all texts of a request, or its token ids, at most. These routes do not wait for their turn, and an answer has about
 * 50 bytes for each token.
 */
const MAX_LENGTH = 100_000;
/** Characters or token ids after which other requests can run. */
const TURN_LENGTH = 10_000;

/** A route that needs only the model's tokenizer. */
export interface TokenizerRoute<S extends v.GenericSchema, Item extends string | readonly number[]> {
  readonly schema: S;
  readonly about: RouteDescription<S>;
  /** Returns the items of a body, which `limits.maxInputs` counts. */
  items(body: v.InferOutput<S>): readonly Item[];
  /** Answers for one item. */
  answer(model: Model, item: Item, body: v.InferOutput<S>): unknown;
}

/** Makes the handler of a route. */
export const tokenizerHandler = <
  Env extends object,
  S extends v.GenericSchema,
  Item extends string | readonly number[],
>(
  { service, limits }: Deployment<Env>,
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
