import { BertEdgeError } from "../artifact/error.ts";
import { once } from "../artifact/once.ts";
import type { Engine } from "../runtime/engine/engine.ts";
import { modelHolder, type WarmUpShape } from "../runtime/models/model-holder.ts";
import type { ObjectStore } from "../storage/store.ts";
import { modelPool } from "./answering/model-pool.ts";
import type { DecisionLog } from "./answering/observer.ts";
import { taskService } from "./answering/task-service.ts";
import type { JobsPlace } from "./bulk/bindings.ts";
import {
  type ApiKey,
  type CallDefaults,
  checkDefaults,
  checkFields,
  defaultNames,
  optionInvalid,
} from "./call-defaults.ts";
import type { Tier } from "./contract/headers.ts";
import { checkKeyList } from "./keys/key-list.ts";
import { callersOf } from "./keys/key-ring.ts";
import { type Limits, limitsWith } from "./limits.ts";
import type { RateLimit } from "./middleware/limits.ts";
import { type AnalyticsDataset, analyticsWriter, printRequestLine } from "./middleware/log-request.ts";
import type { ResponseCache } from "./middleware/response-cache.ts";
import type { CrossOrigin, Operations } from "./operations.ts";
import type { Region } from "./region/region.ts";
import { type ModelAliases, servedNames } from "./served-names.ts";

/** A value, or a function that reads it from the environment. A Worker receives its environment with each request. */
export type Setting<Env, T> = T | ((env: Env) => T);

export interface EmbeddingsOptions<Env extends object> {
  /** The store where models are published. */
  models: Setting<Env, ObjectStore>;
  /** Name of the model to serve, or a list of names. A request can name one of them, or `name@version`. Default: the first. */
  model: Setting<Env, string | readonly string[]>;
  /** Other names of the models, for clients that send a fixed name. They must differ from the models' names. Default: none. */
  aliases?: Setting<Env, ModelAliases | undefined>;
  /**
   * Maximum bytes of all loaded models together. Beyond it, the least recently used models are unloaded. Default: no limit, so
   * set it if you serve several models: an isolate of Workers has 128 MB for everything.
   */
  memoryLimitBytes?: number;
  engine: Engine;
  /**
   * The API keys that may call the routes, each with defaults and limits of its own if it has any. A function is called
   * again every minute, and may return a promise, so keys can change without a restart. With an empty list, every request
   * is refused. `false` disables the check: use it only behind your own authentication.
   */
  keys: Setting<Env, readonly ApiKey[] | Promise<readonly ApiKey[]>> | false;
  /** The region to ask when this deployment would be late. Of several regions, the fastest by measured times is asked. Default: none. */
  region?: Setting<Env, Region | readonly Region[] | undefined>;
  /**
   * Events to log, each as one line of JSON: `requests`, or decisions, either `all` or only `unusual` ones. Unusual decisions are
   * refusals, answers of the region, and answers that are expected to be late. Default `unusual`.
   */
  log?: DecisionLog | "requests";
  /** Dataset of Cloudflare's Analytics Engine that gets a point for every request. Default: none. */
  analytics?: Setting<Env, AnalyticsDataset | undefined>;
  /** Origins whose pages may call the routes: one, several, or `true` for all. Default false. */
  cors?: CrossOrigin;
  /** Limit of requests of each key, or of each address if keys are not checked. Default: none. */
  rateLimit?: Setting<Env, RateLimit | undefined>;
  /** Cache of answers by model version, key, route and body: `() => ({ store: caches.default })`. Default: none. */
  cache?: Setting<Env, ResponseCache | undefined>;
  /**
   * Whether `GET /metrics` shows the queue and the models of this process or isolate to Prometheus. It needs no key, so set it
   * only where strangers cannot reach it, or may know how busy the deployment is. Default false.
   */
  metrics?: boolean;
  limits?: Partial<Limits>;
  /** Callers that may load the served models from `/artifacts`: those with a `key`, or everyone (`public`). Default: nobody. */
  artifacts?: "key" | "public";
  /** Static assets with the page that `GET /` shows. Default: none. */
  page?: Setting<Env, PageBinding | undefined>;
  /** CPU time that the platform allows per request, in ms. Default 30,000, Cloudflare's default on paid plans. */
  cpuLimitMs?: number;
  /** Bucket and queue for jobs of many records. Default: none, and the routes of jobs do not exist. */
  jobs?: Setting<Env, JobsPlace | undefined>;
  /** Settings that apply to requests unless they set their own. Default: no latency budget, and either tier. */
  defaults?: CallDefaults;
  /** Sizes of inputs that a new model computes before its first answer, which is then faster. Default: none, for a short cold start. */
  warmUp?: readonly WarmUpShape[];
  /** The tier that responses name when this deployment computes the answer. Default `edge`. */
  tier?: Tier;
}

/** The binding of a Worker's static assets, as far as bert-edge uses it. */
export interface PageBinding {
  fetch(request: Request): Promise<Response>;
}

/** Parts of a deployment. Functions create their part on the first request, because a Worker gets its environment with a request. */
export type Deployment<Env extends object> = ReturnType<typeof deploymentOf<Env>>;

export function deploymentOf<Env extends object>(options: EmbeddingsOptions<Env>) {
  const { engine, keys, tier = "edge", cpuLimitMs = 30_000, defaults = {}, log = "unusual" } = options;
  const { artifacts, warmUp } = options;
  const limits = limitsWith(options.limits);
  if (typeof cpuLimitMs !== "number" || !(cpuLimitMs > 0)) {
    throw optionInvalid(`cpuLimitMs is ${String(cpuLimitMs)}`, "Give a positive number of milliseconds.");
  }
  checkFields(defaults, defaultNames, "defaults");
  checkDefaults(defaults, "defaults");
  if (artifacts !== undefined && artifacts !== "key" && artifacts !== "public") {
    throw optionInvalid(`artifacts is ${String(artifacts)}`, 'Give "key" or "public", or leave it out.');
  }
  // `once` reads the store only once: a process receives the same environment with every request.
  const store = once(readerOf("models", options.models));
  const served = (env: Env) =>
    servedNames([readerOf("model", options.model)(env)].flat(), readerOf("aliases", options.aliases)(env));
  // Names that need no environment are checked at once.
  if (typeof options.model !== "function" && typeof options.aliases !== "function") served({} as Env);
  if (Array.isArray(keys)) checkKeyList(keys);
  const operations: Operations<Env> = {
    writers: [
      ...(log === "requests" ? [printRequestLine] : []),
      ...(options.analytics ? [analyticsWriter(readerOf("analytics", options.analytics))] : []),
    ],
    cors: options.cors || undefined,
    rateLimit: options.rateLimit && readerOf("rateLimit", options.rateLimit),
    metrics: options.metrics === true,
    cache: options.cache && readerOf("cache", options.cache),
  };
  return {
    limits,
    tier,
    defaults,
    cpuLimitMs,
    operations,
    /** Store that `/artifacts` reads, and whether it needs no key; undefined if these routes do not exist. */
    artifacts: artifacts && { store, isPublic: artifacts === "public" },
    page: options.page && readerOf("page", options.page),
    /** Bucket and queue of jobs; undefined if the deployment was made without jobs. */
    jobs: options.jobs && once(readerOf("jobs", options.jobs)),
    // Only `false` disables the check of keys. If plain JavaScript leaves `keys` out, every request is refused.
    callers:
      keys === false
        ? (false as const)
        : callersOf(async (env: Env) => checkKeyList(await readerOf("keys", keys)(env))),
    service: once((env: Env) => {
      const models = modelPool({
        served: served(env),
        limitBytes: options.memoryLimitBytes,
        holder: (name, version, reserve) => modelHolder({ store: store(env), name, version, engine, warmUp, reserve }),
      });
      return taskService({
        models,
        // Warm-up texts make the engine compile its kernels before the first answer, so its first calls are not slower.
        engine: { ...engine, compilesAsItRuns: engine.compilesAsItRuns && !warmUp?.length },
        tier,
        regions: readRegions(options.region, env),
        log: log === "requests" ? false : log,
        limits,
        cpuLimitMs,
      });
    }),
  };
}

/**
 * Returns a function that reads an option. If the option's own function fails, for example because a secret is not set, the log gets
 * the reason. Callers get only `setting_invalid`, or the BertEdgeError that the option's function has thrown.
 */
function readerOf<Env, T>(option: string, setting: Setting<Env, T>): (env: Env) => T {
  const failed = (cause: unknown): never => {
    if (cause instanceof BertEdgeError) throw cause;
    console.error(`bert-edge: The function of the option ${option} failed.`, cause);
    throw optionInvalid(
      `${option} could not be read`,
      "Set the secrets and bindings that it reads. The log has the reason.",
    );
  };
  return (env) => {
    try {
      const value = typeof setting === "function" ? (setting as (env: Env) => T)(env) : setting;
      return value instanceof Promise ? (value.catch(failed) as T) : value;
    } catch (cause) {
      return failed(cause);
    }
  };
}

/** Reads the regions. If a setting is wrong, logs this and returns no regions: the edge can answer without them. */
function readRegions<Env extends object>(setting: EmbeddingsOptions<Env>["region"], env: Env): Region[] {
  try {
    return [readerOf("region", setting)(env) ?? []].flat();
  } catch (error) {
    const { message, hint } = error as BertEdgeError;
    console.error(`bert-edge: ${message} ${hint} The edge answers alone.`);
    return [];
  }
}
