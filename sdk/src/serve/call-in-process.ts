import { backgroundOf, type CallContext } from "../runtime/background.ts";
import { methodCall, methodsOf, type TaskMethods } from "../runtime/tasks/task-methods.ts";
import { appliedBudget, readPin } from "./call-defaults.ts";
import { NO_BUDGET, UNLIMITED_MS } from "./contract/decision.ts";
import type { CallOptions } from "./contract/javascript.ts";
import type { Deployment } from "./deployment.ts";
import { anyone } from "./queue/caller.ts";
import { startDeadline } from "./routing/deadline.ts";
import type { AnswerDetails } from "./service.ts";

type Methods = TaskMethods<CallOptions, AnswerDetails>;

/**
 * Methods with which an app's own routes use the models of a deployment in this process, without HTTP and without an API key. The first
 * argument is the context of a Hono handler, or `{ env, executionCtx }` of any other handler. The other arguments are those of the
 * client's methods. The methods throw BertEdgeError with the codes of the HTTP errors, such as `input_empty`, `input_too_long`,
 * `task_unsupported` and `overloaded`.
 */
export type InProcess<Env extends object> = {
  readonly [Name in keyof Methods]: (
    c: CallContext<Env>,
    ...args: Parameters<Methods[Name]>
  ) => ReturnType<Methods[Name]>;
};

export function inProcess<Env extends object>({ service, defaults }: Deployment<Env>): InProcess<Env> {
  return methodsOf((name) => async (c: CallContext<Env>, ...args: unknown[]) => {
    const { call, options } = methodCall(name, args, { truncate: defaults.truncate });
    const { latencyBudgetMs, tier, model, signal } = options as CallOptions;
    const { ms, setBy } = appliedBudget(latencyBudgetMs === NO_BUDGET ? UNLIMITED_MS : latencyBudgetMs, defaults);
    const arrival = service(c.env).arrival(performance.now());
    const hold = service(c.env).hold({ caller: anyone }, 0);
    const query = {
      ...{ call, model, hold },
      deadline: startDeadline(ms, { arrival, setBy }),
      pin: tier === undefined ? defaults.tier : readPin(tier, "option tier"),
      signal: signal ?? c.req?.raw.signal,
    };
    const { result, ...details } = await service(c.env).answer(query, backgroundOf(c)).finally(hold.release);
    return { ...result, ...details };
  }) as unknown as InProcess<Env>;
}
