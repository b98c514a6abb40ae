import type { Handler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type * as v from "valibot";
import type { HttpErrorCode } from "../contract/errors.ts";
import type { Serving } from "../service.ts";
import { type BodySchema, type RouteDescription, type TaskRoute, taskHandler } from "./task-route.ts";

/** The part of an error that callers see. */
export interface PublicError {
  readonly code: HttpErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
  readonly index?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** A route of a dialect. */
export interface Route {
  readonly path: string;
  readonly schema: v.GenericSchema;
  readonly about: RouteDescription<v.GenericSchema>;
  /** Whether a model runs, so that requests can have a budget and a tier. */
  readonly runsModel: boolean;
  /** Whether only an edge calls it. Such a route is not shown to others. */
  readonly isInternal?: boolean;
  handler<Env extends object>(serving: Serving<Env>): Handler<{ Bindings: Env }>;
}

/** An HTTP interface whose requests are understood: its routes, and how it writes errors. */
export interface Dialect {
  /** Begins the name of its error in `/openapi.json`. */
  readonly id: string;
  /** Name in `/openapi.json`. */
  readonly name: string;
  readonly routes: readonly Route[];
  /** The body of an error. */
  readonly errorBody: v.GenericSchema;
  /** Writes an error. The status is that of `errorStatus`, unless the dialect has another one. */
  writeError(error: PublicError): { readonly status?: ContentfulStatusCode; readonly body: object };
}

/** Writes message and hint as one text, for dialects that have no field for the hint. */
export const inOneSentence = ({ message, hint }: Pick<PublicError, "message" | "hint">): string =>
  hint === undefined ? message : `${message} ${hint}`;

/** Makes the route of a task at a path. */
export const taskAt = <S extends BodySchema, R>(path: string, route: TaskRoute<S, R>): Route => ({
  path,
  schema: route.schema,
  about: route.about,
  runsModel: true,
  handler: (serving) => taskHandler(serving, route),
});
