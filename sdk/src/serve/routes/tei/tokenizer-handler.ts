import type { Handler } from "hono";
import type * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { Model } from "../../../runtime/model.ts";
import type { Deployment } from "../../deployment.ts";
import { jsonBody } from "../../middleware/json-body.ts";
import { backgroundOf } from "../respond.ts";

/** A route that needs only the model's tokenizer. */
export interface TokenizerRoute<S extends v.GenericSchema> {
  readonly schema: S;
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
    const body: v.InferOutput<S> = await jsonBody(c, schema);
    const { length } = items(body);
    if (length > limits.maxInputs) {
      throw new BertEdgeError(
        "too_many_inputs",
        `The request has ${length} inputs, but at most ${limits.maxInputs} are allowed.`,
        { hint: "Send the inputs in several requests." },
      );
    }
    const work = async (model: Model) => c.json(answer(model, body));
    return service(c.env).using(backgroundOf(c), work, c.req.param("model"));
  };
