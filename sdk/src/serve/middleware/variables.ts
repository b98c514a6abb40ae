import type { Context } from "hono";
import type { KnownKey } from "../call-defaults.ts";
import type { Caller, Hold } from "../queue/caller.ts";
import type { AnswerDetails, RequestOptions } from "../service.ts";
import type { RequestTrace } from "../trace.ts";

/** Facts about a request. Hono keeps them with it. */
export interface RequestVariables {
  /** Names of the request in logs, and in those of other services. */
  readonly trace: RequestTrace;
  /** The key that the request was accepted with. */
  readonly key: KnownKey;
  /** The caller, the memory that the request holds, and a function that reads its body. */
  readonly flight: { readonly caller: Caller; readonly hold: Hold; readonly bodyText: () => Promise<string> };
  /** Counts work of the request when it begins: Workers do not run what comes after a caller has gone. */
  readonly onWork: NonNullable<RequestOptions["onWork"]>;
  /** How the request was answered, and the number of texts that were computed. */
  readonly answer: AnswerDetails & { readonly texts: number };
  /** Whether the request is given to the writers of the log. */
  readonly isLogged: true;
}

/** Notes something for the middleware and the handler of a request. */
export const note = <Name extends keyof RequestVariables>(c: Context, name: Name, value: RequestVariables[Name]) =>
  c.set(`bert-edge-${name}`, value);

/** Returns what was noted of a request; undefined if nothing was. */
export const noted = <Name extends keyof RequestVariables>(
  c: Context,
  name: Name,
): RequestVariables[Name] | undefined => c.get(`bert-edge-${name}`);
