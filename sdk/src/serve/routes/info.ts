import type { Handler } from "hono";
import type { Deployment } from "../deployment.ts";
import { backgroundOf } from "./respond.ts";

/**
 * `GET /info` says what this deployment serves, and its limits. Where text-embeddings-inference has a field for the same thing, it
 * has the same name: https://huggingface.github.io/text-embeddings-inference/#/Text%20Embeddings%20Inference/get_model_info
 */
export function infoRoute<Env extends object>({
  service,
  tier,
  limits,
}: Pick<Deployment<Env>, "service" | "tier" | "limits">): Handler<{ Bindings: Env }> {
  return function info(c) {
    return service(c.env).using(backgroundOf(c), async ({ manifest, version, target, provider }) => {
      const { name, task, dimensions, maxTokens, pooling } = manifest;
      return c.json({
        model_id: name,
        model_sha: version,
        model_dtype: manifest.targets[target]?.precision,
        model_type: { embedding: { pooling } },
        max_input_length: maxTokens,
        max_client_batch_size: limits.maxInputs,
        auto_truncate: false,
        task,
        dimensions,
        tier,
        provider,
        max_body_bytes: limits.maxBodyBytes,
        max_wait_ms: limits.maxWaitMs,
      });
    });
  };
}
