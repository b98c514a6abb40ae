import type { NO_BUDGET } from "./decision.ts";
import type { Tier } from "./headers.ts";

// Exported again here because the client may not import from `runtime`.
export type { TaskMethods, TaskOptions, TaskResult } from "../../runtime/tasks/task-methods.ts";

/** Options of a call: model, time in which it needs an answer, tier, and signal. The client and the methods of an app take them. */
export interface CallOptions {
  /**
   * Time in which you need the answer, in ms. The service chooses the edge or the region by this time. Late answers are sent too. With
   * `none`, no default of the deployment applies. Default: the budget of the client, or else of the deployment.
   */
  readonly latencyBudgetMs?: number | typeof NO_BUDGET | undefined;
  /** The only tier that may answer. With `edge`, texts stay there. `auto`: either. Default: that of the deployment. */
  readonly tier?: Tier | "auto" | undefined;
  /** Name of the model, or `name@version`. Default: the default model of the deployment. */
  readonly model?: string | undefined;
  /** Stops the call when it is aborted. In a route, the signal of its request is the default. */
  readonly signal?: AbortSignal | undefined;
}

/** A name of the HTTP interface in JavaScript's spelling: `topK` for `top_k`. */
export type CamelName<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelName<Tail>>}`
  : Name;

/** A value of the HTTP interface with the names of JavaScript: `top_k` becomes `topK`, also in lists and objects. */
export type CamelCase<T> = T extends readonly (infer Item)[]
  ? CamelCase<Item>[]
  : T extends object
    ? { [Key in keyof T as CamelName<Key>]: CamelCase<T[Key]> }
    : T;

/** Renames the keys of a value, also in lists and objects. */
function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), renamed(item, rename)]));
}

export const camelCase = <T>(value: T): CamelCase<T> =>
  renamed(value, (key) =>
    key.includes("_") ? key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) : key,
  ) as CamelCase<T>;

/** The inverse of `camelCase`. */
export const snakeCase = <T extends object>(value: object): T =>
  renamed(value, (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)) as T;
