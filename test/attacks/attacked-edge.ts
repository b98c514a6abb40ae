import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { fakeEngine, TINY, tinyStore } from "../fixtures/tiny-model.ts";

export const KEY = "the-key";

const app = createEdgeApp({
  models: await tinyStore(),
  model: TINY.name,
  engine: fakeEngine(),
  keys: [KEY],
  log: "requests",
});

/** Sends a request to an edge that logs each request. */
export const post = async (body: string, headers: Record<string, string> = {}, path = "/v1/embed"): Promise<Response> =>
  app.request(path, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...headers },
    body,
  });

/** Returns the error code of a refusal. */
export const codeOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { code: string } }).error.code;

/** CPU time in ms that an attack may take. It takes up to 0.5 s. Work that is quadratic in the length takes more than 5 s. */
export const MAX_CPU_MS = 3_000;
