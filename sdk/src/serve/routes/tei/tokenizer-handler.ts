import type { Handler } from "hono";
import type * as v from "valibot";
import type { Model } from "../../../runtime/model.ts";
import type { Deployment } from "../../deployment.ts";
import { checkSize } from "../../limits.ts";
import { jsonBody } from "../../middleware/json-body.ts";
import { backgroundOf } from "../respond.ts";
import type { RouteDescription } from "../task-route.ts";

/** A route that needs only the model's tokenizer. */
export interface TokenizerRoute<S extends v.GenericSchema> {
  readonly schema: S;
  readonly about: RouteDescription<S>;
  /** Returns the items of a body, which `limits.maxInputs` counts. */
  items(body: v.InferOutput<S>): readonly unknown[];
  answer(model: Model, body: v.InferOutput<S>): object;
}

/** Makes the handler of a route. */
export const tokenizerHandler = <Env extends object, S extends v.GenericSchema>(
  { service, limits }: Deployment<Env>,
  { schema, items, answer }: TokenizerRoute<S>,
): Handler<{ Bindings: Env }> =>
  async function handleTokenizer(c) {
    const body: v.InferOutput<S> = await jsonBody(c, schema, { maxItems: limits.maxInputs });
    checkSize(items(body).length, limits.maxInputs);
    const work = async (model: Model) => c.json(answer(model, body));
    return service(c.env).using(backgroundOf(c), work, c.req.param("model"));
  };
