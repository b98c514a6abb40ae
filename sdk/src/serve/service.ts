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

/** Options of a request, apart from its texts. */
export interface RequestOptions {
  /** Name of the requested model, or `name@version`. Default: the default model of the deployment. */
  readonly model?: string | undefined;
  readonly deadline: Deadline;
  /** The only tier that may answer; undefined leaves the choice to the deployment. */
  readonly pin?: Tier | undefined;
  /** The lowest precision that may answer; undefined accepts any. */
  readonly precision?: NumberFormat | undefined;
  /** Aborts when the caller disconnects. */
  readonly signal?: AbortSignal | undefined;
  /** Default: `anyone`. */
  readonly caller?: Caller | undefined;
  /** Memory of the request. Default: it is not counted. */
  readonly hold?: Hold | undefined;
  /** Predicted and measured milliseconds of an earlier answer, as its client reports them. */
  readonly report?: { readonly predictedMs: number; readonly measuredMs: number } | undefined;
  /** Called with the whole cost of the request whenever a tier begins its work: the caller may disconnect before the work ends. */
  readonly onWork?: ((cost: Cost) => void) | undefined;
  /** Ids of the request, which the region's logs and traces repeat. */
  readonly trace?: RequestTrace | undefined;
}

/** Numbers of tokens and texts that a request computes. They count against the limits of its key. */
export interface Cost {
  readonly tokens: number;
  readonly texts: number;
}

/** A request for the results of a task, independent of the route that received it. */
export interface TaskQuery<R> extends RequestOptions {
  readonly call: TaskCall<R>;
}

/** Details of an answer, apart from its result. */
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
  /** The model for each name that requests can use: first the models' own names, then the aliases. */
  readonly models: ReadonlyMap<string, string>;
  /**
   * Returns the model that a request names, and the version if it pins one. Capital letters and an `org/` before the name are
   * ignored if only one model matches.
   *
   * @param model name in the request. Default: the default model
   * @throws BertEdgeError `model_unknown`
   */
  find(model?: string): { readonly name: string; readonly version: string | undefined };
  /** Checks that a request may leave the model out. @throws BertEdgeError `request_invalid` if there are several models */
  assertOne(): void;
}

export interface TaskService {
  /**
   * Counts the memory of a request from its arrival on.
   *
   * @param bytes bytes of the request's body
   * @throws BertEdgeError `overloaded`, `rate_limited`
   */
  hold(holder: Holder, bytes: number): Hold;
  readonly served: ServedNames;
  /** Number of regions. */
  readonly regions: number;
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
   * @param name name of the model, or `name@version`. Default: the default model
   * @throws BertEdgeError `model_unknown`, and the errors of loading the model
   */
  using<T>(background: Background, work: (model: Model) => Promise<T>, name?: string): Promise<T>;
  /** Returns the default model; undefined while it is not loaded. Starts loading it if no load is in progress. */
  ready(background: Background): { model: string; version: string; provider: string } | undefined;
  /** Computes the deployment's own texts in the background, as soon as the default model is loaded, until the engine is warm. */
  warm(background: Background): void;
  /** Returns the error code of the last failed load of the default model; undefined if no load has failed since the last success. */
  failure(): ErrorCode | undefined;
  /** Returns the arrival time of a request that is first handled at `now`. It is earlier if a computation occupied the thread. */
  arrival(now: number): ArrivalTime;
  /** Bytes of all models that are loaded or being loaded. */
  memoryBytes(): number;
  /** Bytes of all requests in flight. */
  bytesInFlight(): number;
  /** Predicted milliseconds that a new request with a budget waits for its turn. Default caller: the one who would wait longest. */
  queueMs(caller?: Caller): number;
  /** Requests that this process or isolate has answered or refused so far. */
  readonly totals: RequestTotals;
}

/** The part of a deployment that routes need. The first request makes the service, because a Worker gets its environment with requests. */
export interface Serving<Env extends object> {
  readonly service: (env: Env) => TaskService;
  readonly limits: Limits;
  readonly defaults: CallDefaults;
}
