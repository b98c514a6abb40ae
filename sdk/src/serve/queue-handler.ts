import { backgroundOf, type CallContext } from "./background.ts";
import type { JobsBatch } from "./bulk/bindings.ts";
import { handleBatch } from "./bulk/handle-batch.ts";
import type { Deployment } from "./deployment.ts";
import { placeOf } from "./routes/jobs.ts";

/** Handles the messages that a Worker gets from the queue of jobs. */
export type QueueHandler<Env> = (
  batch: JobsBatch,
  env: Env,
  executionCtx: CallContext<Env>["executionCtx"],
) => Promise<void>;

export const queueHandler =
  <Env extends object>(deployment: Deployment<Env>): QueueHandler<Env> =>
  async (batch, env, executionCtx) => {
    const { service, tier } = deployment;
    const place = placeOf({ env }, deployment);
    await handleBatch(batch, { place, service: service(env), tier, background: backgroundOf({ executionCtx }) });
  };
