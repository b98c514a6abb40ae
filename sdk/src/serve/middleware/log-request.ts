import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { findTargetHandler, isMiddleware } from "hono/utils/handler";
import { BertEdgeError } from "../../artifact/error.ts";
import { Refused } from "../refusal.ts";
import { note, noted, type RequestVariables } from "./variables.ts";

/** Logs a request. It calls `describe` only if it logs the request, because describing takes longer than checking a key. */
export type RequestWriter<Env extends object> = (describe: () => RequestLine, env: Env) => void;

/** Gives every request to each of the writers when its answer begins, but only once if the middleware runs twice. */
export function logRequest<Env extends object>(
  writers: readonly RequestWriter<Env>[],
): MiddlewareHandler<{ Bindings: Env }> {
  return async function logRequest(c: Context, next) {
    if (noted(c, "isLogged")) return next();
    note(c, "isLogged", true);
    const started = performance.now();
    await next();
    const elapsedMs = performance.now() - started;
    for (const write of writers) write(() => describe(c, elapsedMs), c.env);
  };
}

type RequestLine = ReturnType<typeof describe>;

/** Describes a request and its answer, without texts and keys. Times are in milliseconds. */
function describe(c: Context, elapsedMs: number) {
  const answer = noted(c, "answer");
  return {
    method: c.req.method,
    /** Pattern of the route, such as `/v1/jobs/:job`; undefined if there is none. Unknown paths can contain anything. */
    route: matchedRoutes(c).findLast(({ handler }) => !isMiddleware(findTargetHandler(handler)))?.path,
    status: c.res.status,
    /** Original code of the error, as in the log of errors. The answer can have a more general code. */
    error: c.error && (c.error instanceof BertEdgeError ? c.error.code : "internal"),
    key: noted(c, "key")?.name,
    ...(answer && describeAnswer(answer)),
    ...(c.error instanceof Refused && Object.keys(c.error.basis).length > 0 && { decision: c.error.basis }),
    elapsedMs,
    ...noted(c, "trace"),
  };
}

/** Returns the part of an answer that is logged, which contains no results. */
function describeAnswer(answer: RequestVariables["answer"]) {
  const { model, version, tier, reason, tokens, timings, decision, texts } = answer;
  return { model: `${model}@${version}`, tier, reason, tokens, timings, decision, texts };
}

/** A dataset of Cloudflare's Analytics Engine: https://developers.cloudflare.com/analytics/analytics-engine/ */
export interface AnalyticsDataset {
  writeDataPoint(point: { indexes: string[]; blobs: string[]; doubles: number[] }): void;
}

/** Prints a request as one line of JSON, which log services can search. Times have one decimal. */
export const printRequestLine = (describe: () => RequestLine): void =>
  console.log(
    JSON.stringify({ "bert-edge": "request", ...describe() }, (_, value) =>
      typeof value === "number" ? Math.round(value * 10) / 10 : value,
    ),
  );

/**
 * Makes a writer that adds a point for each request to a dataset, if the environment has one. In a point, index1 is the key's name. blob1
 * to blob8 are route, method, error, tier, reason, model, request id and traceparent. double1 to double6 are status, texts, tokens, and
 * elapsed, queue and compute milliseconds. Fields without a value are empty or 0.
 */
export const analyticsWriter =
  <Env>(datasetOf: (env: Env) => AnalyticsDataset | undefined) =>
  (describe: () => RequestLine, env: Env): void => {
    const dataset = datasetOf(env);
    if (!dataset) return;
    const line = describe();
    const { route, method, error, tier, reason, model, requestId, traceparent, timings = {} } = line;
    const { key = "", status, texts = 0, tokens = 0, elapsedMs } = line;
    dataset.writeDataPoint({
      indexes: [key],
      blobs: [route, method, error, tier, reason, model, requestId, traceparent].map((text) => text ?? ""),
      doubles: [status, texts, tokens, elapsedMs, timings["queue"] ?? 0, timings["compute"] ?? 0],
    });
  };
