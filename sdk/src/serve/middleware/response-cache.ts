import type { Context, MiddlewareHandler } from "hono";
import { sha256Hex } from "../../artifact/sha256.ts";
import { backgroundOf } from "../../runtime/background.ts";
import { defaultsFor } from "../call-defaults.ts";
import { CACHE_HEADER, MODEL_HEADER, PRECISION_HEADER, TIER_HEADER, type Tier } from "../contract/headers.ts";
import type { Hold } from "../queue/caller.ts";
import type { Serving } from "../service.ts";
import { bodyText } from "./body.ts";
import { noted } from "./variables.ts";

/** A cache of responses, such as `caches.default` of Workers: https://developer.mozilla.org/en-US/docs/Web/API/Cache */
export interface AnswerStore {
  match(request: Request): Promise<Response | undefined>;
  put(request: Request, response: Response): Promise<unknown>;
}

export interface ResponseCache {
  readonly store: AnswerStore;
  /** Seconds that an answer is kept. Default 3,600. */
  readonly seconds?: number | undefined;
  /** Whether keys share answers. If they do, a fast answer tells a caller that somebody has sent the same text. Default false. */
  readonly shared?: boolean | undefined;
}

/** Headers about the computation of an answer. They are wrong for an answer from the cache. */
const momentary =
  /^(server-timing|x-request-id|x-latency-budget-.*|x-bert-edge-(decision|predicted-ms|queue-ms|cache))$/;

/**
 * Answers a request from the cache if it equals an earlier one: the same key, body and route, the same version of the default model, and
 * the same settings. Only answers of this model with status 200 and up to 1 MiB are kept, after the client has read them. While no model
 * is loaded, and when the cache fails, requests are computed.
 */
export function responseCache<Env extends object>(
  cache: (env: Env) => ResponseCache | undefined,
  { service, defaults, tier }: Pick<Serving<Env>, "service" | "defaults"> & { readonly tier: Tier },
): MiddlewareHandler<{ Bindings: Env }> {
  return async function responseCache(c, next) {
    const { store, seconds = 3_600, shared = false } = cache(c.env) ?? {};
    const background = backgroundOf(c);
    const { ready, served: names } = service(c.env);
    const model = store && ready(background);
    if (!store || !model) return next();
    const served = `${model.model}@${model.version}`;
    const key = noted(c, "key");
    const settings = [model, tier, [...names.models], defaultsFor(key, defaults)];
    const id = await entryOf(c, [...settings, shared ? "" : key?.name]);
    const found = await store.match(id).catch(logFailure);
    // Whatever a store returns, an answer of another model is never sent.
    if (found?.headers.get(MODEL_HEADER) === served) {
      c.header(CACHE_HEADER, "hit");
      for (const [name, value] of found.headers) if (isKept(name)) c.header(name, value);
      return c.newResponse(found.body as ReadableStream);
    }
    c.header(CACHE_HEADER, "miss");
    await next();
    if (c.res.status !== 200 || c.res.headers.get(MODEL_HEADER) !== served) return;
    const headers = new Headers([...c.res.headers].filter(([name]) => isKept(name)));
    headers.set("cache-control", `max-age=${seconds}`);
    const { stream, whole } = collecting(noted(c, "flight")?.hold);
    c.res = new Response((c.res.body as ReadableStream<Uint8Array>).pipeThrough(stream), c.res);
    const put = (answer: Blob | undefined) => answer && store.put(id, new Response(answer, { headers }));
    background(whole.then(put).catch(logFailure));
  };
}

/** Maximum bytes of an answer to keep: it is in memory until the client has read it. */
const MAX_KEPT_BYTES = 1024 * 1024;

/** Makes a stream that passes an answer on. `whole` becomes the answer when the client has read it; undefined if it is too large. */
function collecting(hold: Hold | undefined) {
  const whole = Promise.withResolvers<Blob | undefined>();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const stream = new TransformStream<Uint8Array<ArrayBuffer>>({
    transform(piece, passOn) {
      passOn.enqueue(piece);
      bytes += piece.length;
      if (bytes <= MAX_KEPT_BYTES) {
        pieces.push(piece);
        hold?.add(piece.length);
      } else if (pieces.length > 0) {
        hold?.add(piece.length - bytes);
        pieces.length = 0;
      }
    },
    flush: () => whole.resolve(bytes <= MAX_KEPT_BYTES ? new Blob(pieces) : undefined),
  });
  return { stream, whole: whole.promise };
}

/** Whether to keep a header. Headers about CORS and caching belong to one request, not to an answer in the cache. */
const isKept = (name: string): boolean =>
  !momentary.test(name) && (name.startsWith("x-bert-edge-") || name === "content-type");

/**
 * Makes the cache key of a request: a URL with a hash of everything that the answer depends on. The URL is below the path of the
 * request. It therefore reaches the same Worker, and nobody else can read the cache through it.
 */
async function entryOf(c: Context, settings: readonly unknown[]): Promise<Request> {
  const { path } = c.req;
  const { origin, search } = new URL(c.req.url);
  const headers = ["content-type", TIER_HEADER, PRECISION_HEADER].map((name) => c.req.header(name));
  // Hashes the body separately: as JSON, a body of control characters would be six times as long.
  const body = await sha256Hex(new TextEncoder().encode(await bodyText(c)));
  const parts = [settings, path, search, headers, body];
  const hash = await sha256Hex(new TextEncoder().encode(JSON.stringify(parts)));
  return new Request(`${origin}${path.replace(/\/$/, "")}/answers/${hash}`);
}

function logFailure(error: unknown): undefined {
  console.error("bert-edge: The response cache failed. The request is computed.", error);
}
