import type { Context } from "hono";
import { totalLength } from "../../../artifact/total-length.ts";
import type { AnswerDetails } from "../../service.ts";

/** Execution providers of GPUs. */
const onGpu = new Set(["cuda", "tensorrt", "webgpu"]);

/**
 * Sets the headers in which text-embeddings-inference describes its work, in whole milliseconds. The time that an answer of the
 * region took in total counts as inference.
 */
export function describeWork(c: Context, answer: AnswerDetails, texts: readonly string[]): void {
  const { timings, provider, tokens } = answer;
  const inferenceMs = timings["compute"] ?? timings["region"] ?? 0;
  const queueMs = timings["queue"] ?? 0;
  const ms = (value: number) => `${Math.round(value)}`;
  c.header("x-compute-type", onGpu.has(provider) ? "gpu" : "cpu");
  c.header("x-compute-time", ms(inferenceMs));
  c.header("x-compute-characters", `${totalLength(texts)}`);
  c.header("x-compute-tokens", `${tokens}`);
  c.header("x-total-time", ms(queueMs + inferenceMs));
  c.header("x-tokenization-time", "0");
  c.header("x-queue-time", ms(queueMs));
  c.header("x-inference-time", ms(inferenceMs));
}
