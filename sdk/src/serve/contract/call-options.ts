import type { NO_BUDGET } from "./decision.ts";
import type { Tier } from "./headers.ts";

// The client shares only the contract with the server.
export type { TaskMethods, TaskOptions, TaskResult } from "../../runtime/tasks/task-methods.ts";

/** Options of a call about the model, time and place: the same for the client, and for an app's own routes. */
export interface CallOptions {
  /**
   * Time in which you need the answer, in ms. The service chooses the edge or the region by this time. Late answers are sent too. With
   * `none`, no default of the deployment applies. Default: that of the client, or else of the deployment.
   */
  readonly latencyBudgetMs?: number | typeof NO_BUDGET | undefined;
  /** The only tier that may answer. With `edge`, texts stay there. `auto`: either. Default: that of the deployment. */
  readonly tier?: Tier | "auto" | undefined;
  /** Name of the model, or `name@version`. Default: the default model of the deployment. */
  readonly model?: string | undefined;
  /** Stops the call when it is aborted. In a route, the signal of its request is the default. */
  readonly signal?: AbortSignal | undefined;
}
