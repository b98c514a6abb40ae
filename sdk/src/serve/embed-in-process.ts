import { embedCall } from "../runtime/tasks/embed-call.ts";
import type { Tier } from "./contract/headers.ts";
import type { Deployment } from "./deployment.ts";
import { backgroundOf, type CallContext } from "./routes/respond.ts";
import { startDeadline } from "./routing/deadline.ts";
import { readPin } from "./routing/pin.ts";
import type { AnswerDetails } from "./service.ts";

export interface EmbedAnswer extends AnswerDetails {
  /** One vector [dimensions] per text, in the order of the texts. */
  readonly vectors: readonly Float32Array<ArrayBuffer>[];
}

export interface EmbedCallOptions {
  /** Time in which you need the answer, in ms. The edge or the region is chosen by this time. Default: none. */
  latencyBudgetMs?: number;
  /**
   * The only tier that may answer. With `edge`, texts never leave the edge. `auto` leaves the choice to the deployment.
   * Default: that of the deployment.
   */
  tier?: Tier | "auto";
  /** Whether to cut texts that are too long. Otherwise the call fails. Default false. */
  truncate?: boolean;
  /** Stops the work when it is aborted. Default: the signal of the request in `c`, if there is one. */
  signal?: AbortSignal;
}

/**
 * Embeds texts in this process, without HTTP and without an API key. Uses the model that the routes have loaded.
 *
 * @param c the context of a Hono handler, or `{ env, executionCtx }` of any other handler
 * @throws BertEdgeError with the codes of the HTTP errors, such as `input_empty`, `input_too_long`, `budget_invalid`,
 *   `tier_invalid` and `overloaded`, and the errors of loading and running the model
 */
export type EmbedInProcess<Env extends object> = (
  c: CallContext<Env>,
  texts: readonly string[],
  options?: EmbedCallOptions,
) => Promise<EmbedAnswer>;

export const embedInProcess =
  <Env extends object>({ service, defaults }: Deployment<Env>): EmbedInProcess<Env> =>
  async (c, texts, options = {}) => {
    const { latencyBudgetMs = defaults.latencyBudgetMs, tier, truncate = false } = options;
    const arrival = service(c.env).arrival(performance.now());
    const query = {
      call: embedCall(texts, { truncate }),
      deadline: startDeadline(latencyBudgetMs, { arrival }),
      pin: tier === undefined ? defaults.tier : readPin(tier, "option tier"),
      signal: options.signal ?? c.req?.raw.signal,
    };
    const { result: vectors, ...details } = await service(c.env).answer(query, backgroundOf(c));
    return { vectors, ...details };
  };
