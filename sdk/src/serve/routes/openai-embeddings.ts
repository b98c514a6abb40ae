import type { Handler } from "hono";
import { OpenAiEmbeddingsRequest, type OpenAiEmbeddingsResponse } from "../contract/embed.ts";
import type { Deployment } from "../deployment.ts";
import { jsonBody } from "../middleware/json-body.ts";
import { readCall } from "./call.ts";
import { formatVector } from "./format-vector.ts";
import { listResponse } from "./list-response.ts";
import { backgroundOf, describeAnswer } from "./respond.ts";

/** OpenAI's `POST /v1/embeddings`: https://platform.openai.com/docs/api-reference/embeddings */
export function openAiEmbeddingsRoute<Env extends object>({
  service,
  defaults,
}: Deployment<Env>): Handler<{ Bindings: Env }> {
  return async function openAiEmbeddings(c) {
    const startedAt = service(c.env).arrivedAt(performance.now());
    const {
      input,
      model,
      encoding_format,
      dimensions,
      latency_budget_ms: bodyMs,
    } = await jsonBody(c, OpenAiEmbeddingsRequest);
    const texts = typeof input === "string" ? [input] : input;
    const call = readCall(c, { startedAt, bodyMs, defaults });
    const query = { ...call, texts, truncate: false, model, dimensions };
    const answer = await service(c.env).embed(query, backgroundOf(c));
    describeAnswer(c, answer, call.deadline);
    const { model: name, vectors, tokens } = answer;
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    const body: OpenAiEmbeddingsResponse = { object: "list", data: [], model: name, usage };
    const item = (index: number) => {
      const embedding = formatVector(vectors[index] as Float32Array<ArrayBuffer>, encoding_format);
      return `{"object":"embedding","index":${index},"embedding":${embedding}}`;
    };
    return listResponse(c, { body, list: "data", count: vectors.length, item });
  };
}
