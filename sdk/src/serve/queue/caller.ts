import type { RequestTrace } from "../trace.ts";

/** The sender of a request. Callers share the engine and the memory of a deployment. */
export interface Caller {
  /** Tells callers apart. */
  readonly id: string;
  /** Name of the caller's key; empty if keys are not checked. */
  readonly key: string;
  /** Name behind the key; empty if there is none. */
  readonly behind: string;
  /** Share of the engine and of the memory that the callers of this key have together, compared with those of other keys. */
  readonly weight: number;
  /** Requests that the callers of this key may have in flight together. */
  readonly requestsInFlight?: number | undefined;
}

/** Returns the caller with a key. `behind` tells callers with the same key apart: an edge names whom it asks for. */
export const callerWith = (
  {
    name,
    weight = 1,
    requestsInFlight,
  }: { name: string; weight?: number | undefined; requestsInFlight?: number | undefined },
  behind = "",
): Caller => ({ id: behind === "" ? name : `${name} ${behind}`, key: name, behind, weight, requestsInFlight });

/** Stands for all callers of a deployment without keys. */
export const anyone = callerWith({ name: "" });

/** A request that holds memory. */
export interface Holder {
  readonly caller: Caller;
  readonly trace?: RequestTrace | undefined;
}

/** Memory that a request holds. It counts until everybody who retains it has released it, or until its time is over. */
export interface Hold {
  /**
   * Counts `bytes` of the body from now on, until the end of the request: it can be read again.
   *
   * @throws Refused `overloaded` if there is no room for more
   */
  reserveBody(bytes: number): void;
  /**
   * Counts `bytes` besides the body from now on.
   *
   * @throws Refused `overloaded` if there is no room for more
   */
  reserve(bytes: number): void;
  /** Counts `bytes` besides the body that are already in memory. */
  count(bytes: number): void;
  /** Counts more bytes that are already in memory, or fewer. */
  add(bytes: number): void;
  /** Sets the time in ms after which the request counts as vanished: a platform can end a request without notice. */
  keep(forMs: number): void;
  retain(): void;
  release(): void;
}
