import type { Background } from "../background.ts";
import type { Tier } from "../contract/headers.ts";
import type { TaskService } from "../service.ts";

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
