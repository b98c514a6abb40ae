import type { Handler } from "hono";
import { EmbedRequest, type EmbedResponse } from "../contract/embed.ts";
import type { Deployment } from "../deployment.ts";
import { jsonBody } from "../middleware/json-body.ts";
import { readCall } from "./call.ts";
import { formatVector } from "./format-vector.ts";
import { listResponse } from "./list-response.ts";
import { backgroundOf, describeAnswer } from "./respond.ts";

/** `POST /v1/embed` */
export function embedRoute<Env extends object>({ service, defaults }: Deployment<Env>): Handler<{ Bindings: Env }> {
  return async function embed(c) {
    const startedAt = service(c.env).arrivedAt(performance.now());
    const { inputs, truncate, model, encoding_format, latency_budget_ms: bodyMs } = await jsonBody(c, EmbedRequest);
    const texts = typeof inputs === "string" ? [inputs] : inputs;
    const call = readCall(c, { startedAt, bodyMs, defaults });
    const query = { ...call, texts, truncate, model, dimensions: undefined };
    const answer = await service(c.env).embed(query, backgroundOf(c));
    describeAnswer(c, answer, call.deadline);
    const { model: name, version, tier, vectors, tokens } = answer;
    const body: EmbedResponse = { model: name, version, tier, embeddings: [], usage: { tokens } };
    const item = (index: number) => formatVector(vectors[index] as Float32Array<ArrayBuffer>, encoding_format);
    return listResponse(c, { body, list: "embeddings", count: vectors.length, item });
  };
}
