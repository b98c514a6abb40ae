import type { Hono } from "hono";
import type { Task } from "#sdk/artifact/manifest.ts";
import type { Engine } from "#sdk/runtime/engine/engine.ts";
import { dialects, routesOf } from "#sdk/serve/dialects/index.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { createRegionApp } from "#sdk/serve/region-app.ts";
import { taskEngine, taskStore } from "../../fixtures/task-model.ts";
import { TINY } from "../../fixtures/tiny-model.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import type { Json } from "../damage-json.ts";
import { damagedJsonText } from "../damaged-json-text.ts";
import { extremeEngine } from "../extreme-engine.ts";
import { judgeAnswer } from "../judge-answer.ts";
import { requestsByTask } from "../sound-requests.ts";
import type { Target } from "../target.ts";

type App = Hono<{ Bindings: object }>;

const KEY = "k";
const headers: readonly (readonly [string, string])[] = [
  ...["5000", "0", "-1", "1e309", "x"].map((budget) => ["x-latency-budget-ms", budget] as const),
  ...["edge", "region", "x"].map((tier) => ["x-bert-edge-tier", tier] as const),
  ["x-bert-edge-precision", "fp99"],
  ["x-bert-edge-report", "1 NaN"],
  ["grpc-timeout", "99999999S"],
  ["traceparent", "00-0-0-00"],
  ["x-request-id", "a b"],
  ["content-type", "text/plain"],
  ["content-encoding", "gzip"],
  ["content-length", "3"],
  ["content-length", "99999999999"],
  ["authorization", "Bearer"],
  ["authorization", `Bearer ${"x".repeat(9_000)}`],
  ["accept", "application/x-ndjson"],
  ["x-amzn-sagemaker-custom-attributes", "path=v1/embed&x-latency-budget-ms=x"],
  ["x-amzn-sagemaker-custom-attributes", "path=v1/embed"],
  ["x-amzn-sagemaker-custom-attributes", "path=../ready"],
];
const queries = ["?x=1", "?version=000000000000", "?__proto__=1", "?%ff"];
const others = [
  "/info",
  "/health",
  "/ready",
  "/openapi.json",
  "/docs",
  "/v1/models",
  "/metrics",
  "/ping",
  "/invocations",
];
const artifacts = [
  "/artifacts/models/tiny/current.json",
  `/artifacts/blobs/sha256/${"0".repeat(64)}`,
  "/artifacts/%2e%2e",
];
const prefixes = ["", "", "/models/tiny", "/models/..%2f", "/models/__proto__"];
const paths = routesOf(dialects).map(({ path }) => path);

/** Requests to every route of both tiers, with a model for each task. Each is answered, or refused with a 4xx or a 503. */
export const requests: Target = {
  runs: { long: 60_000, short: 600 },
  refusals: [
    "body_too_large",
    "budget_invalid",
    "content_type_unsupported",
    "dimensions_unsupported",
    "input_empty",
    "input_too_long",
    "key_missing",
    "key_wrong",
    "method_unsupported",
    "model_unknown",
    "precision_unavailable",
    "prompt_unknown",
    "request_invalid",
    "request_too_costly",
    "route_unknown",
    "task_unsupported",
    "tier_invalid",
    "tier_missing",
    "too_many_inputs",
    "http_400",
    "http_401",
    "http_404",
    "http_405",
    "http_413",
    "http_415",
    "http_422",
  ],
  async start() {
    const served = await Promise.all(
      requestsByTask.flatMap(([task, sound]) =>
        [taskEngine, extreme].map(async (engineFor) => ({ apps: await appsOf(task, engineFor), sound })),
      ),
    );
    for (const { apps, sound } of served) for (const [path, body] of sound) await assertAccepted(apps, path, body);
    const bodies = requestsByTask.flatMap(([, sound]) => sound.map(([, body]) => body));
    return async (seed) => {
      const choice = new SeededChoice(seed);
      const { apps, sound } = choice.of(served);
      const isFitting = choice.below(4) > 0;
      const [route, fitting] = isFitting
        ? choice.of(sound)
        : [choice.of([...paths, ...others, ...artifacts]), choice.of(bodies)];
      const path = choice.of(prefixes) + route + (choice.below(8) === 0 ? choice.of(queries) : "");
      const sent = new Headers({ "content-type": "application/json", authorization: `Bearer ${KEY}` });
      for (let count = choice.below(3); count > 0 && choice.below(2) === 0; count--) sent.set(...choice.of(headers));
      const method = isFitting ? "POST" : choice.of(["POST", "GET", "PUT", "DELETE", "HEAD", "OPTIONS"]);
      const body = method === "GET" || method === "HEAD" ? null : bodyOf(fitting, choice);
      const response = await choice.of(apps).request(path, { method, headers: sent, body });
      return judgeAnswer(response, method === "POST" ? route : "", body === null ? "" : textOf(body));
    };
  },
};

const extreme = (...given: Parameters<typeof taskEngine>): Engine => extremeEngine(taskEngine(...given));

/** Makes an edge and a region that serve a model for a task, and waits until they do. */
async function appsOf(task: Task, engineFor: typeof extreme): Promise<App[]> {
  const models = await taskStore(task);
  const common = { models, model: TINY.name, keys: [KEY], log: false as const, metrics: true };
  const edge = createEdgeApp({ ...common, engine: engineFor(task), artifacts: "key" });
  const region = createRegionApp({ ...common, engine: engineFor(task, { target: "regional-cpu" }), sagemaker: true });
  const apps = [edge as App, region];
  for (const app of apps) {
    while ((await app.request("/ready")).status !== 200) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return apps;
}

/** Only regions take calls of SageMaker, so that one of the apps is enough. */
async function assertAccepted(apps: readonly App[], path: string, body: Json): Promise<void> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
  const answers = await Promise.all(
    apps.map((app) => app.request(path, { method: "POST", headers, body: JSON.stringify(body) })),
  );
  if (!answers.some(({ ok }) => ok)) throw new Error(`${path} refuses a sound body: ${await answers[0]?.text()}`);
}

function bodyOf(fitting: Json, choice: SeededChoice): string | Uint8Array<ArrayBuffer> {
  const text = choice.below(4) === 0 ? JSON.stringify(fitting) : damagedJsonText(fitting, choice);
  return choice.below(8) === 0 ? damagedBytes(Buffer.from(text), choice) : text;
}

const textOf = (body: string | Uint8Array): string =>
  typeof body === "string" ? body : new TextDecoder().decode(body);
