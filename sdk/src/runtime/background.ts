/** Keeps work running after the response, with `waitUntil` on platforms that have this function. */
export type Background = (work: Promise<unknown>) => void;

/** The parts of Hono's context that bert-edge needs. In handlers without a request, such as cron handlers, pass `{ env, executionCtx }`. */
export interface CallContext<Env> {
  readonly env: Env;
  readonly req?: { readonly raw: Request };
  readonly executionCtx: { waitUntil(work: Promise<unknown>): void };
}

/** Returns a function that passes work to `waitUntil`. Platforms without `waitUntil` do not need it. */
export function backgroundOf(c: Pick<CallContext<unknown>, "executionCtx">): Background {
  return (work) => {
    try {
      c.executionCtx.waitUntil(work);
    } catch {
      // Hono throws if there is no execution context. Then this is a server process, which keeps running.
    }
  };
}
