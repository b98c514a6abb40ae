import type { Handler } from "hono";
import { OpenAiEmbeddingsRequest, type OpenAiEmbeddingsResponse } from "../contract/embed.ts";
import { formatVector } from "../contract/format-vector.ts";
import type { Deployment } from "../deployment.ts";
import { readCall } from "./call.ts";
import { listResponse } from "./list-response.ts";
import { backgroundOf, describeAnswer } from "./respond.ts";

/** OpenAI's `POST /v1/embeddings`: https://platform.openai.com/docs/api-reference/embeddings */
export function openAiEmbeddingsRoute<Env extends object>(deployment: Deployment<Env>): Handler<{ Bindings: Env }> {
  return async function openAiEmbeddings(c) {
    const { call, body } = await readCall(c, deployment, OpenAiEmbeddingsRequest);
    const { input, model, encoding_format, dimensions } = body;
    const texts = typeof input === "string" ? [input] : input;
    const query = { ...call, texts, truncate: false, model, dimensions };
    const answer = await deployment.service(c.env).embed(query, backgroundOf(c));
    describeAnswer(c, answer, call.deadline);
    const { model: name, vectors, tokens } = answer;
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    const response: OpenAiEmbeddingsResponse = { object: "list", data: [], model: name, usage };
    const item = (index: number) => {
      const embedding = formatVector(vectors[index] as Float32Array<ArrayBuffer>, encoding_format);
      return `{"object":"embedding","index":${index},"embedding":${embedding}}`;
    };
    return listResponse(c, { body: response, list: "data", count: vectors.length, item });
  };
}
