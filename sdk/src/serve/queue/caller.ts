import type { RequestTrace } from "../trace.ts";

/** The sender of a request. Callers share the engine and the memory of a deployment. */
export interface Caller {
  /** Unique id of the caller. */
  readonly id: string;
  /** Name of the caller's key; empty if keys are not checked. */
  readonly key: string;
  /** Name that tells callers with the same key apart, as an edge sends it for its own callers; empty without one. */
  readonly behind: string;
  /** Share of the engine and of the memory for all callers of this key together, relative to other keys. */
  readonly weight: number;
  /** Maximum number of requests that the callers of this key may have in flight together. */
  readonly requestsInFlight?: number | undefined;
}

/** Returns the caller with a key. `behind` tells callers with the same key apart: an edge sends the name of its own caller. */
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
   * Sets the counted size of the body. It counts until the end of the request, because the body can be read again.
   *
   * @throws Refused `overloaded` if there is no room for more
   */
  reserveBody(bytes: number): void;
  /**
   * Sets the counted memory besides the body to `bytes`, before they are allocated.
   *
   * @throws Refused `overloaded` if there is no room for more
   */
  reserve(bytes: number): void;
  /** Sets the counted memory besides the body to `bytes`, which are allocated already. */
  count(bytes: number): void;
  /** Adds `bytes` besides the body, which are allocated already. A negative number subtracts. */
  add(bytes: number): void;
  /** Sets the time in ms after which the request counts as vanished: a platform can end a request without notice. */
  keep(forMs: number): void;
  retain(): void;
  release(): void;
}
