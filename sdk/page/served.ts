import type { Info } from "./connection.ts";
import { element } from "./elements.ts";

/** Says which model the deployment serves, who answers, and which limits apply. */
export function showServed(info: Info): void {
  const served = element("served", HTMLElement);
  const dimensions = info.dimensions === undefined ? [] : [`${info.dimensions} dimensions`];
  served.textContent = [info.model_id, kindOf(info), ...dimensions, `${info.max_input_length} tokens`].join(" · ");
  served.title = `Version ${info.model_sha}`;
  element("rule", HTMLElement).textContent =
    info.regions > 0
      ? "The edge answers. The region answers instead if the edge is busy or would be late, and the region is faster."
      : "The edge answers. It refuses a request at once if others make it late.";
  const { cpu_limit_ms: ms, cpu_limit_tokens: tokens, cpu_limit_texts: texts } = info;
  if (tokens === undefined || tokens >= info.max_input_length) return;
  const limit = element("cpu-limit", HTMLElement);
  limit.hidden = false;
  const several = texts && texts > 1 ? `, or ${texts} texts of 16` : "";
  limit.textContent = `The edge has ${ms} ms of CPU time for a request: one text of ${tokens} tokens${several}.`;
}

function kindOf({ task, input, model_type }: Info): string {
  if (task === "embed") return "sentence encoder";
  if ("reranker" in model_type) return "reranker";
  return task === "classify" ? `classifier of ${input}s` : task;
}
