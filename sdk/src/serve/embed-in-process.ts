import { backgroundOf, type CallContext } from "./routes/respond.ts";
import { deadlineAfter } from "./routing/deadline.ts";
import type { EmbedAnswer, EmbedService } from "./service.ts";

export interface EmbedCallOptions {
  /** Time in which you need the answer, in ms. The edge or the region is chosen by this time. Default: none. */
  latencyBudgetMs?: number;
  /** Whether to cut texts that are too long. Otherwise the call fails. Default false. */
  truncate?: boolean;
}

/**
 * Embeds texts in this process, without HTTP and without an API key. Uses the model that the routes have loaded.
 *
 * @param c the context of a Hono handler, or `{ env, executionCtx }` of any other handler
 * @throws BertEdgeError with the codes of the HTTP errors, such as `input_empty`, `input_too_long` and `budget_invalid`,
 *   and the errors of loading and running the model
 */
export type EmbedInProcess<Env extends object> = (
  c: CallContext<Env>,
  texts: readonly string[],
  options?: EmbedCallOptions,
) => Promise<EmbedAnswer>;

export const embedInProcess =
  <Env extends object>(service: (env: Env) => EmbedService): EmbedInProcess<Env> =>
  async (c, texts, { latencyBudgetMs, truncate = false } = {}) => {
    const deadline = deadlineAfter(latencyBudgetMs);
    const query = { texts, truncate, model: undefined, dimensions: undefined, deadline };
    return service(c.env).embed(query, backgroundOf(c));
  };
