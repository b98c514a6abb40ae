import type { ContentfulStatusCode } from "hono/utils/http-status";
import type * as v from "valibot";
import type { HttpErrorCode } from "../contract/errors.ts";
import type { Route } from "./task-route.ts";

/** The part of an error that callers see. */
export interface PublicError {
  readonly code: HttpErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
  readonly index?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** An HTTP interface whose requests are understood: its routes, and how it writes errors. */
export interface Dialect {
  /** Prefix of the name of the error schema in `/openapi.json`. */
  readonly id: string;
  /** Name in `/openapi.json`. */
  readonly name: string;
  readonly routes: readonly Route[];
  /** Part of other paths whose errors the dialect writes too, such as `/v1/`. */
  readonly below?: string;
  /** Schema of the body of an error. */
  readonly errorBody: v.GenericSchema;
  /** Writes an error. The status is that of `errorStatus`, unless the dialect has another one. */
  writeError(error: PublicError): { readonly status?: ContentfulStatusCode; readonly body: object };
}

/**
 * Fields without effect that clients of a dialect send, by path of the route, each with the reason. Dots in a name lead into objects.
 * All other fields are in the route's schema, which uses or refuses them. Only tests and docs read this list, so the Worker does not
 * contain it.
 */
export type FieldsWithoutEffect = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Writes message and hint as one text, for dialects that have no field for the hint. */
export const inOneSentence = ({ message, hint }: Pick<PublicError, "message" | "hint">): string =>
  hint === undefined ? message : `${message}${/[.!?]$/.test(message) ? "" : "."} ${hint}`;
