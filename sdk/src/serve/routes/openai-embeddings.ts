import type { Handler } from "hono";
import { OpenAiEmbeddingsRequest, type OpenAiEmbeddingsResponse } from "../contract/embed.ts";
import { BUDGET_HEADER } from "../contract/headers.ts";
import { jsonBody } from "../middleware/json-body.ts";
import { startDeadline } from "../routing/deadline.ts";
import type { EmbedService } from "../service.ts";
import { backgroundOf, describeAnswer, encodeVector } from "./respond.ts";

/** OpenAI's `POST /v1/embeddings`: https://platform.openai.com/docs/api-reference/embeddings */
export function openAiEmbeddingsRoute<Env extends object>(
  service: (env: Env) => EmbedService,
): Handler<{ Bindings: Env }> {
  return async function openAiEmbeddings(c) {
    const deadline = startDeadline(c.req.header(BUDGET_HEADER));
    const { input, model, encoding_format, dimensions } = await jsonBody(c, OpenAiEmbeddingsRequest);
    const texts = typeof input === "string" ? [input] : input;
    const query = { texts, truncate: false, model, dimensions, deadline };
    const answer = await service(c.env).embed(query, backgroundOf(c));
    describeAnswer(c, answer, deadline);
    return c.json<OpenAiEmbeddingsResponse>({
      object: "list",
      data: answer.vectors.map((vector, index) => ({
        object: "embedding",
        index,
        embedding: encodeVector(vector, encoding_format),
      })),
      model: answer.model,
      usage: { prompt_tokens: answer.tokens, total_tokens: answer.tokens },
    });
  };
}
