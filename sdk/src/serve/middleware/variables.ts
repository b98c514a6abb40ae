import type { Context } from "hono";
import type { KnownKey } from "../call-defaults.ts";
import type { Caller, Hold } from "../queue/caller.ts";
import type { AnswerDetails, RequestOptions } from "../service.ts";
import type { RequestTrace } from "../trace.ts";

/** Facts about a request, which Hono keeps in its context. */
export interface RequestVariables {
  /** Ids of the request in the logs of this and other services. */
  readonly trace: RequestTrace;
  /** The key with which the request was accepted. */
  readonly key: KnownKey;
  /** The caller, the memory that the request holds, and a function that reads its body. */
  readonly flight: { readonly caller: Caller; readonly hold: Hold; readonly bodyText: () => Promise<string> };
  /** Counts the work of the request when it begins: on Workers, code after the work does not run if the caller has disconnected. */
  readonly onWork: NonNullable<RequestOptions["onWork"]>;
  /** Details of the answer, and the number of texts that were computed. */
  readonly answer: AnswerDetails & { readonly texts: number };
  /** Set if `logRequest` gives the request to its writers. */
  readonly isLogged: true;
}

/** Stores a fact for the middleware and the handler of a request. */
export const note = <Name extends keyof RequestVariables>(c: Context, name: Name, value: RequestVariables[Name]) =>
  c.set(`bert-edge-${name}`, value);

/** Returns a fact that `note` has stored for a request; undefined if it has not. */
export const noted = <Name extends keyof RequestVariables>(
  c: Context,
  name: Name,
): RequestVariables[Name] | undefined => c.get(`bert-edge-${name}`);
