import type { Context, Handler } from "hono";
import type { Manifest } from "../../artifact/manifest.ts";
import { type Background, backgroundOf } from "../../runtime/background.ts";
import type { Model } from "../../runtime/model.ts";
import { readingOf } from "../../runtime/reading.ts";
import { protocolOf, searchRoles } from "../../runtime/tasks/late-interaction.ts";
import { pairScorer } from "../../runtime/tasks/pair-scorer.ts";
import { isPerToken } from "../../runtime/tasks/task-output.ts";
import { longestWithin, textsWithin } from "../answering/plan.ts";
import { appliedBudget, defaultsFor } from "../call-defaults.ts";
import { outputBytes } from "../check-query.ts";
import { UNLIMITED_MS } from "../contract/decision.ts";
import type { Tier } from "../contract/headers.ts";
import type { Deployment } from "../deployment.ts";
import type { Limits } from "../limits.ts";
import { noted } from "../middleware/variables.ts";
import type { TaskService } from "../service.ts";

/**
 * Answers `GET /info` with the model that this deployment serves, and its limits. Fields that text-embeddings-inference has too have
 * the same name: https://huggingface.github.io/text-embeddings-inference/#/Text%20Embeddings%20Inference/get_model_info
 */
export function infoRoute<Env extends object>(deployment: Deployment<Env>): Handler<{ Bindings: Env }> {
  const { service, tier, limits, defaults, cpuLimitMs } = deployment;
  return (c) => {
    const describe = async (model: Model) => {
      const { manifest, version, target, provider, tokenizer } = model;
      const { name, task, maxTokens } = manifest;
      const ofCaller = defaultsFor(noted(c, "key"), defaults);
      const { truncate } = ofCaller;
      const { ms: defaultMs } = appliedBudget(undefined, ofCaller);
      const { ms: longestMs } = appliedBudget(UNLIMITED_MS, ofCaller);
      return c.json({
        model_id: name,
        model_sha: version,
        model_dtype: manifest.targets[target]?.precision,
        model_type: modelType(manifest),
        max_input_length: maxTokens,
        max_client_batch_size: largestBatch(manifest, limits),
        // Whether long texts are cut by default: on the routes of text-embeddings-inference, and on bert-edge's own.
        auto_truncate: Boolean(truncate ?? true),
        truncate: truncate ?? false,
        task,
        // Whether a classifier reads texts or pairs.
        ...("input" in manifest && { input: manifest.input }),
        ...("dimensions" in manifest && { dimensions: manifest.dimensions }),
        // The settings in the model's own files, as `prepare` has read them.
        reading: readingOf(manifest, tokenizer),
        // The values of `side` on /v1/token-vectors.
        ...(protocolOf(manifest) && { sides: searchRoles }),
        tier,
        // Number of regions that can answer instead of this deployment.
        regions: service(c.env).regions,
        // Whether browsers can load the model's files from /artifacts.
        artifacts: deployment.artifacts !== undefined,
        provider,
        max_body_bytes: limits.maxBodyBytes,
        max_wait_ms: limits.maxWaitMs,
        ...(defaultMs < UNLIMITED_MS && { default_latency_budget_ms: defaultMs }),
        ...(longestMs < UNLIMITED_MS && { max_latency_budget_ms: longestMs }),
        // The platform can limit a request's computation: text-embeddings-inference has no such limit.
        ...(cpuLimitMs < Number.POSITIVE_INFINITY && {
          cpu_limit_ms: cpuLimitMs,
          cpu_limit_tokens: longestWithin(model, cpuLimitMs),
          // Number of texts of 16 tokens.
          cpu_limit_texts: textsWithin(model, 16, cpuLimitMs),
        }),
      });
    };
    return service(c.env).using(backgroundOf(c), describe, c.req.param("model"));
  };
}

/** Returns the maximum number of texts in a request. If a task has outputs for each token, `maxOutputBytes` can allow fewer long texts. */
function largestBatch(manifest: Manifest, { maxInputs, maxOutputBytes }: Limits): number {
  if (isPerToken(manifest)) return maxInputs;
  return Math.min(maxInputs, Math.floor(maxOutputBytes / outputBytes(manifest, undefined)));
}

/** Describes a model's task in the form of text-embeddings-inference, which knows only encoders and classifiers. */
function modelType(manifest: Manifest): object {
  const { task } = manifest;
  if (task === "embed")
    return { embedding: { pooling: manifest.pooling === "last" ? "last_token" : manifest.pooling } };
  if (task !== "classify") return { [task]: {} };
  const { labels } = manifest;
  const ids = { id2label: { ...labels }, label2id: Object.fromEntries(labels.map((label, id) => [label, id])) };
  return pairScorer(manifest) ? { reranker: ids } : { classifier: ids };
}

/** Describes a model in OpenAI's form. `created` is 0, because the time is not known. */
const described = (id: string) => ({ id, object: "model", created: 0, owned_by: "bert-edge" });

/** Answers OpenAI's `GET /v1/models` with the model of the path, or with all models. */
export function listModels(c: Context, { served }: TaskService): Response {
  const asked = c.req.param("model");
  const names = asked === undefined ? [...served.models.keys()] : [served.find(asked).name];
  return c.json({ object: "list", data: names.map(described) });
}

/**
 * Answers OpenAI's `GET /v1/models/<name>`.
 *
 * @throws BertEdgeError `model_unknown`
 */
export function describeServed(c: Context, { served }: TaskService): Response {
  const asked = c.req.param("name")?.replace(/\/$/, "");
  const { name } = served.find(asked);
  return c.json(described(asked !== undefined && served.models.has(asked) ? asked : name));
}

/** Media type of Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";

/** Answers with the state of this process or isolate in Prometheus' text format. It contains no texts and no keys. */
export function metrics(service: TaskService, tier: Tier, background: Background): Response {
  const model = service.ready(background);
  const { answers, refusals } = service.totals;
  const lines = [
    ...(tier === "edge"
      ? ["# These are the figures of one isolate. The edge has many, and each request can reach another one."]
      : []),
    "# HELP bert_edge_queue_wait_seconds Predicted wait of a new request with a budget.",
    "# TYPE bert_edge_queue_wait_seconds gauge",
    `bert_edge_queue_wait_seconds ${service.queueMs() / 1000}`,
    "# HELP bert_edge_model_bytes Memory of all loaded models.",
    "# TYPE bert_edge_model_bytes gauge",
    `bert_edge_model_bytes ${service.memoryBytes()}`,
    "# HELP bert_edge_in_flight_bytes Memory of all requests in flight.",
    "# TYPE bert_edge_in_flight_bytes gauge",
    `bert_edge_in_flight_bytes ${service.bytesInFlight()}`,
    "# HELP bert_edge_model_info The loaded model. Its value is always 1.",
    "# TYPE bert_edge_model_info gauge",
    ...(model ? [`bert_edge_model_info{${labels(model)}} 1`] : []),
    "# HELP bert_edge_requests_total Answered requests by tier and reason.",
    "# TYPE bert_edge_requests_total counter",
    ...[...answers].flatMap(([by, reasons]) =>
      [...reasons].map(([reason, count]) => `bert_edge_requests_total{${labels({ tier: by, reason })}} ${count}`),
    ),
    "# HELP bert_edge_refusals_total Requests that no tier answers, by code.",
    "# TYPE bert_edge_refusals_total counter",
    ...[...refusals].map(([code, count]) => `bert_edge_refusals_total{${labels({ code })}} ${count}`),
  ];
  return new Response(`${lines.join("\n")}\n`, { headers: { "content-type": TEXT_FORMAT } });
}

const labels = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}="${value.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`)
    .join(",");
