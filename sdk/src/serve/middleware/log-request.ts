import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { findTargetHandler, isMiddleware } from "hono/utils/handler";
import { BertEdgeError } from "../../artifact/error.ts";
import { Refused } from "../refusal.ts";
import { keyOf } from "./api-key.ts";
import { answerOf, type NotedAnswer } from "./note-answer.ts";
import { traceOf } from "./request-id.ts";

const VARIABLE = "bert-edge-logged";

/** A request and its answer, without texts and keys. Times are in milliseconds. */
export interface RequestLine extends Partial<Omit<NotedAnswer, "model" | "version">> {
  readonly method: string;
  /** Pattern of the route, such as `/v1/jobs/:job`; undefined if there is none. Unknown paths can contain anything. */
  readonly route?: string | undefined;
  readonly status: number;
  /** Code of the error, as in the log of errors: the answer can have another one. */
  readonly error?: string | undefined;
  /** Name of the key. */
  readonly key?: string | undefined;
  /** `name@version` of the model that answered. */
  readonly model?: string | undefined;
  readonly elapsedMs: number;
  readonly requestId?: string | undefined;
  readonly traceparent?: string | undefined;
}

/** Writes a request. It describes the request only if it is called: that takes longer than checking a key. */
export type RequestWriter<Env extends object> = (describe: () => RequestLine, env: Env) => void;

/** Gives every request to each of the writers, when its answer begins. A request that was already given to them is left alone. */
export function logRequest<Env extends object>(
  writers: readonly RequestWriter<Env>[],
): MiddlewareHandler<{ Bindings: Env }> {
  return async function logRequest(c: Context, next) {
    if (c.get(VARIABLE)) return next();
    c.set(VARIABLE, true);
    const started = performance.now();
    await next();
    const elapsedMs = performance.now() - started;
    for (const write of writers) write(() => describe(c, elapsedMs), c.env);
  };
}

function describe(c: Context, elapsedMs: number): RequestLine {
  const { model, version, ...answer }: Partial<NotedAnswer> = answerOf(c) ?? {};
  return {
    method: c.req.method,
    route: matchedRoutes(c).findLast(({ handler }) => !isMiddleware(findTargetHandler(handler)))?.path,
    status: c.res.status,
    error: c.error && (c.error instanceof BertEdgeError ? c.error.code : "internal"),
    key: keyOf(c)?.name,
    model: model && `${model}@${version}`,
    ...answer,
    ...(c.error instanceof Refused && Object.keys(c.error.basis).length > 0 && { decision: c.error.basis }),
    elapsedMs,
    ...traceOf(c),
  };
}
