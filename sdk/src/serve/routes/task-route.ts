import type { Context, Handler } from "hono";
import type * as v from "valibot";
import type { TaskCall } from "../../runtime/tasks/task-call.ts";
import { backgroundOf } from "../background.ts";
import type { Deployment } from "../deployment.ts";
import type { TaskAnswer } from "../service.ts";
import { type BodySchema, readCall } from "./call.ts";
import { describeAnswer } from "./respond.ts";

/** Describes a route in the OpenAPI document. */
export interface RouteDescription<S extends v.GenericSchema> {
  readonly summary: string;
  /** A body that a model of the route's task answers. */
  readonly example: v.InferInput<S>;
  readonly response: v.GenericSchema;
}

/** A route in the words of one dialect: what its bodies mean, and how it answers. */
export interface TaskRoute<S extends BodySchema, R> {
  readonly schema: S;
  readonly about: RouteDescription<S>;
  /** Returns the call that a body asks for. */
  call(body: v.InferOutput<S>): TaskCall<R>;
  /** Writes the answer. Its headers are set before. */
  respond(c: Context, answer: TaskAnswer<R>, body: v.InferOutput<S>): Response;
}

/** Makes the handler of a route. */
export const taskHandler = <Env extends object, S extends BodySchema, R>(
  deployment: Deployment<Env>,
  { schema, call, respond }: TaskRoute<S, R>,
): Handler<{ Bindings: Env }> =>
  async function handleTask(c) {
    const { terms, body } = await readCall(c, deployment, schema);
    const query = { ...terms, call: call(body), model: c.req.param("model") ?? body.model };
    const answer = await deployment.service(c.env).answer(query, backgroundOf(c));
    describeAnswer(c, { ...answer, texts: query.call.texts.length }, terms.deadline);
    return respond(c, answer, body);
  };
