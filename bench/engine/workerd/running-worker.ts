import { convertV4MiniflareOptions, Miniflare, type V4ModuleDefinition } from "miniflare";
import type { EmbedResponse } from "#sdk/serve/tasks/embed.ts";
import { r2Publisher, type WritableR2Bucket } from "#sdk/storage/r2-publisher.ts";
import type { WritableStore } from "#sdk/storage/store.ts";
import type { ModelSource } from "./model-store.ts";

const API_KEY = "key";
const NAME = "edge";

export interface RunningWorker {
  /** Returns the bucket to which models are published, if it is the Worker's source. */
  bucket(): Promise<WritableStore>;
  ask(texts: readonly string[]): Promise<Response>;
  health(): Promise<void>;
  /** Returns the URL of the isolate's inspector (Chrome DevTools Protocol). */
  inspector(): Promise<string>;
  stop(): Promise<void>;
}

export interface WorkerOptions {
  readonly modules: V4ModuleDefinition[];
  /** The model's name in its store. */
  readonly model: string;
  readonly source: ModelSource;
}

/** Starts a Worker in a workerd process of its own. The Worker has not received a request yet. */
export async function startWorker({ modules, model, source }: WorkerOptions): Promise<RunningWorker> {
  const workerd = new Miniflare(
    convertV4MiniflareOptions({
      name: NAME,
      modules,
      modulesRoot: "/",
      compatibilityDate: "2026-11-01",
      bindings: { MODEL: model, API_KEY, ...("url" in source && { MODELS_URL: source.url }) },
      ...("bucket" in source && { r2Buckets: ["MODELS"], resourcePersistencePath: source.bucket }),
      inspectorPort: 0,
    }),
  );
  await workerd.ready;
  return {
    bucket: async () => r2Publisher((await workerd.getR2Bucket("MODELS")) as unknown as WritableR2Bucket),
    ask: async (texts) =>
      (await workerd.dispatchFetch("http://edge/v1/embed", {
        method: "POST",
        headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ inputs: texts, truncate: true }),
      })) as unknown as Response,
    health: async () => void (await (await workerd.dispatchFetch("http://edge/health")).arrayBuffer()),
    inspector: async () => `ws://${(await workerd.getInspectorURL()).host}/core:user:${NAME}`,
    stop: () => workerd.dispose(),
  };
}

/**
 * Reads the vectors of a response.
 *
 * @throws Error unless the status is 200
 */
export async function vectorsOf(response: Response): Promise<Float32Array[]> {
  if (!response.ok) throw new Error(`The Worker answered ${response.status}: ${await response.text()}`);
  const { embeddings } = (await response.json()) as EmbedResponse;
  return (embeddings as number[][]).map((vector) => Float32Array.from(vector));
}
