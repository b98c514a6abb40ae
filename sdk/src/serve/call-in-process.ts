import { BertEdgeError } from "../artifact/error.ts";
import { embedCall } from "../runtime/tasks/embed.ts";
import type { TaskCall } from "../runtime/tasks/task-call.ts";
import { backgroundOf, type CallContext } from "./background.ts";
import { appliedBudget, readPin } from "./call-defaults.ts";
import { NO_BUDGET, UNLIMITED_MS } from "./contract/decision.ts";
import type { Tier } from "./contract/headers.ts";
import type { Deployment } from "./deployment.ts";
import { anyone } from "./queue/caller.ts";
import { startDeadline } from "./routing/deadline.ts";
import type { AnswerDetails } from "./service.ts";

export interface InProcessOptions {
  /** Time in which you need the answer, in ms, or `none`. It decides the tier. Default: that of the deployment. */
  latencyBudgetMs?: number | typeof NO_BUDGET;
  /** The only tier that may answer. With `edge`, texts stay there. `auto`: either. Default: that of the deployment. */
  tier?: Tier | "auto";
  /** Name of the model, or `name@version`. Default: the default model of the deployment. */
  model?: string;
  /** Stops the work when it is aborted. Default: the signal of the request in `c`, if there is one. */
  signal?: AbortSignal;
}

/** Its `result` is what the call describes: of `classifyCall`, for example, labels with scores for each text. */
export type InProcessAnswer<R> = AnswerDetails & { readonly result: R };

export interface EmbedCallOptions extends InProcessOptions {
  /** Whether to cut texts that are too long. Otherwise the call fails. Default: that of the deployment, or false. */
  truncate?: boolean;
}

export interface EmbedAnswer extends AnswerDetails {
  /** One vector [dimensions] per text, in the order of the texts. */
  readonly vectors: readonly Float32Array<ArrayBuffer>[];
}

/** Methods with which an app's own routes use the models of a deployment. */
export interface InProcess<Env extends object> {
  /**
   * Answers a call in this process, without HTTP and without an API key. Uses the models that the routes have loaded.
   *
   * @param c the context of a Hono handler, or `{ env, executionCtx }` of any other handler
   * @param call such as `classifyCall(…)`
   * @throws BertEdgeError with the codes of the HTTP errors, such as `input_empty`, `input_too_long`, `task_unsupported`,
   *   `budget_invalid`, `tier_invalid` and `overloaded`, and the errors of loading and running the model
   */
  readonly call: <R>(c: CallContext<Env>, call: TaskCall<R>, options?: InProcessOptions) => Promise<InProcessAnswer<R>>;
  /** Embeds texts in this process, as `call` does with an `embedCall`. */
  readonly embed: (c: CallContext<Env>, texts: readonly string[], options?: EmbedCallOptions) => Promise<EmbedAnswer>;
}

export type CallInProcess<Env extends object> = InProcess<Env>["call"];
export type EmbedInProcess<Env extends object> = InProcess<Env>["embed"];

/** @throws BertEdgeError `request_invalid` if a text of a caller in JavaScript, or of an unchecked body, is none */
function assertTexts(texts: readonly unknown[]): void {
  const index = texts.findIndex((text) => typeof text !== "string");
  if (index < 0) return;
  const text = texts[index];
  const kind = text === null ? "null" : Array.isArray(text) ? "a list" : typeof text;
  throw new BertEdgeError("request_invalid", `Input ${index} is not a text: it is ${kind}.`, {
    hint: "Give a list of strings. If they come from the body of a request, check that it has them.",
    index,
  });
}

export function inProcess<Env extends object>({ service, defaults }: Deployment<Env>): InProcess<Env> {
  const call: CallInProcess<Env> = async (c, task, options = {}) => {
    assertTexts(task.texts);
    const { latencyBudgetMs, tier, model } = options;
    const ownMs = latencyBudgetMs === NO_BUDGET ? UNLIMITED_MS : latencyBudgetMs;
    const { ms, setBy } = appliedBudget(ownMs, defaults);
    const arrival = service(c.env).arrival(performance.now());
    const hold = service(c.env).hold({ caller: anyone }, 0);
    const query = {
      call: task,
      model,
      deadline: startDeadline(ms, { arrival, setBy }),
      pin: tier === undefined ? defaults.tier : readPin(tier, "option tier"),
      signal: options.signal ?? c.req?.raw.signal,
      hold,
    };
    return service(c.env).answer(query, backgroundOf(c)).finally(hold.release);
  };
  return {
    call,
    async embed(c, texts, { truncate = defaults.truncate, ...options } = {}) {
      assertTexts(texts);
      const { result: vectors, ...details } = await call(c, embedCall(texts, { truncate }), options);
      return { vectors, ...details };
    },
  };
}
