import type { ErrorCode } from "../artifact/error-codes.ts";
import type { Background } from "../runtime/background.ts";
import type { Model } from "../runtime/model.ts";
import type { TaskCall } from "../runtime/tasks/task-call.ts";
import type { CallDefaults } from "./call-defaults.ts";
import type { Figures } from "./contract/decision.ts";
import type { NumberFormat, Reason, Tier } from "./contract/headers.ts";
import type { Limits } from "./limits.ts";
import type { Caller, Hold, Holder } from "./queue/caller.ts";
import type { RefusalCode } from "./refusal.ts";
import type { ArrivalTime, Deadline } from "./routing/deadline.ts";
import type { RequestTrace } from "./trace.ts";

/** Wishes of the caller of a request, apart from the texts. */
export interface RequestOptions {
  /** Name of the requested model, or `name@version`. Default: the default model of the deployment. */
  readonly model?: string | undefined;
  readonly deadline: Deadline;
  /** The only tier that may answer; undefined leaves the choice to the deployment. */
  readonly pin?: Tier | undefined;
  /** The lowest precision that may answer; undefined accepts any. */
  readonly precision?: NumberFormat | undefined;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal | undefined;
  /** Default: `anyone`. */
  readonly caller?: Caller | undefined;
  /** Memory of the request. Default: it is not counted. */
  readonly hold?: Hold | undefined;
  /** The times of an earlier answer, in milliseconds, as its client measured it. */
  readonly report?: { readonly predictedMs: number; readonly measuredMs: number } | undefined;
  /** Told about the work of the request as soon as it begins, each time about all of it: the caller may go before it ends. */
  readonly onWork?: ((cost: Cost) => void) | undefined;
  /** Names of the request in the logs of other services. */
  readonly trace?: RequestTrace | undefined;
}

/** Cost of a request. */
export interface Cost {
  readonly tokens: number;
  readonly texts: number;
}

/** A request for the results of a task, independent of the route that received it. */
export interface TaskQuery<R> extends RequestOptions {
  readonly call: TaskCall<R>;
}

/** How a request was answered. */
export interface AnswerDetails {
  /** Tokens of all sequences together. */
  readonly tokens: number;
  readonly model: string;
  readonly version: string;
  readonly tier: Tier;
  readonly provider: string;
  readonly reason: Reason;
  /** Predicted milliseconds of the chosen tier; undefined without a prediction. */
  readonly predictedMs: number | undefined;
  /** Milliseconds of each part of the work, by name, for the Server-Timing header. */
  readonly timings: Readonly<Record<string, number>>;
  /** The figures behind the decision, by name: times in milliseconds, or a flag. */
  readonly decision: Readonly<Figures>;
}

export interface TaskAnswer<R> extends AnswerDetails {
  readonly result: R;
}

/** An answer of a tier: the model's output for each sequence, in order, without the fields about the choice of the tier. */
export interface TierAnswer extends Omit<AnswerDetails, "tier" | "reason" | "predictedMs" | "decision"> {
  readonly outputs: readonly Float32Array<ArrayBuffer>[];
}

/** Numbers of answers by tier and reason, and of refusals by code, since the process or isolate started. */
export interface RequestTotals {
  readonly answers: ReadonlyMap<Tier, ReadonlyMap<Reason, number>>;
  readonly refusals: ReadonlyMap<RefusalCode, number>;
}

/** The names by which requests call the models of a deployment. */
export interface ServedNames {
  /** Names of the models, the default one first. */
  readonly names: readonly string[];
  /** The model of each name that requests can have: `names`, and then their aliases. */
  readonly models: ReadonlyMap<string, string>;
  /**
   * Returns the model that a request means, and the version if it pins one. Capital letters and an `org/` before the name do not
   * matter, if only one model is meant.
   *
   * @param model as the request has it. Default: the default model
   * @throws BertEdgeError `model_unknown`
   */
  find(model?: string): { readonly name: string; readonly version: string | undefined };
  /** Checks that a request needs no name. @throws BertEdgeError `request_invalid` if there are several models */
  assertOne(): void;
}

export interface TaskService {
  /**
   * Counts the memory of a request from its arrival on.
   *
   * @param bytes of its body
   * @throws BertEdgeError `overloaded`, `rate_limited`
   */
  hold(holder: Holder, bytes: number): Hold;
  readonly served: ServedNames;
  /**
   * Refuses a request that cannot be answered in time, whatever its texts are.
   *
   * @throws BertEdgeError `overloaded`, `budget_exceeded`, `tier_missing`, `tier_unavailable`, `precision_unavailable`
   */
  admit(call: RequestOptions, background: Background): void;
  /**
   * Answers a request.
   *
   * @throws BertEdgeError the errors of `admit` and `TaskCall.on`, `input_empty`, `too_many_inputs`, `input_too_long`,
   *   `request_too_costly`, `model_unknown`, `model_unavailable`, and the errors of loading and running the model
   */
  answer<R>(query: TaskQuery<R>, background: Background): Promise<TaskAnswer<R>>;
  /**
   * Runs work on a model, which is loaded first if needed, and is not released before the work ends.
   *
   * @param name of the model, or `name@version`. Default: the default model
   * @throws BertEdgeError `model_unknown`, and the errors of loading the model
   */
  using<T>(background: Background, work: (model: Model) => Promise<T>, name?: string): Promise<T>;
  /** Returns the default model; undefined while it is not loaded. Starts loading it if no load is in progress. */
  ready(background: Background): { model: string; version: string; provider: string } | undefined;
  /** Computes texts of its own in the background, as soon as the default model is loaded, until the engine is warm. */
  warm(background: Background): void;
  /** Returns the code of the error with which the last load of the default model failed; undefined if none did, or after a later one has succeeded. */
  failure(): ErrorCode | undefined;
  /** Returns when a request arrived that is handled at `now`: earlier if a computation occupied the thread. */
  arrival(now: number): ArrivalTime;
  /** Bytes of all loaded models, and of those that are being loaded. */
  memoryBytes(): number;
  /** Bytes of all requests in flight. */
  bytesInFlight(): number;
  /** Predicted milliseconds that a new request with a budget would wait for its turn. Default: of the caller who waits longest. */
  queueMs(caller?: Caller): number;
  /** Requests that this process or isolate has answered or refused so far. */
  readonly totals: RequestTotals;
}

/** The part of a deployment that routes need. Its service is made on the first request: a Worker receives its environment with each. */
export interface Serving<Env extends object> {
  readonly service: (env: Env) => TaskService;
  readonly limits: Limits;
  readonly defaults: CallDefaults;
}
