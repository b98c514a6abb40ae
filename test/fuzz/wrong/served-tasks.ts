import type { Hono } from "hono";
import type { Task } from "#sdk/artifact/manifest.ts";
import { once } from "#sdk/artifact/once.ts";
import { dialects, shownRoutes } from "#sdk/serve/dialects/index.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { taskEngine, taskStore } from "../../fixtures/task-model.ts";
import { TINY } from "../../fixtures/tiny-model.ts";
import type { Json } from "../damage-json.ts";
import { requestsByTask } from "../sound-requests.ts";

/** A request that is answered with 200, and the app that answers it. */
export interface SoundRequest {
  readonly app: Hono<{ Bindings: object }>;
  readonly path: string;
  readonly body: Json;
}

/** Starts an app for a model of each task. Returns sound requests to all routes. */
export const soundRequests = once(async (): Promise<readonly SoundRequest[]> => {
  const all: SoundRequest[] = [];
  for (const [task, requests] of requestsByTask) {
    const app = await appFor(task);
    for (const [path, body] of requests) {
      // Regions take calls of SageMaker, and edges ask for outputs.
      if (path === "/invocations" || path === "/v1/outputs") continue;
      await assertSound(app, path, body);
      all.push({ app, path, body });
    }
  }
  const missing = shownRoutes(dialects).filter(({ path }) => !all.some((each) => each.path === path));
  if (missing.length > 0) throw new Error(`There is no sound request to ${missing.map(({ path }) => path)}.`);
  return all;
});

/** Long enough that no wrong value is too long. */
const MAX_TOKENS = 64;

async function appFor(task: Task): Promise<SoundRequest["app"]> {
  const options = { models: await taskStore(task, MAX_TOKENS), model: TINY.name, keys: false, log: false } as const;
  return createEdgeApp({ ...options, engine: taskEngine(task), cpuLimitMs: 1e9 });
}

async function assertSound(app: SoundRequest["app"], path: string, body: Json): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await app.request(path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} refuses a sound body: ${await answer.text()}`);
}
