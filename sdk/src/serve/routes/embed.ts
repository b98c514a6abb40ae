import type { Handler } from "hono";
import { EmbedRequest, type EmbedResponse } from "../contract/embed.ts";
import { formatVector } from "../contract/format-vector.ts";
import type { Deployment } from "../deployment.ts";
import { readCall } from "./call.ts";
import { listResponse } from "./list-response.ts";
import { backgroundOf, describeAnswer } from "./respond.ts";

/** `POST /v1/embed` */
export function embedRoute<Env extends object>(deployment: Deployment<Env>): Handler<{ Bindings: Env }> {
  return async function embed(c) {
    const { call, body } = await readCall(c, deployment, EmbedRequest);
    const { inputs, truncate, model, encoding_format } = body;
    const texts = typeof inputs === "string" ? [inputs] : inputs;
    const query = { ...call, texts, truncate, model, dimensions: undefined };
    const answer = await deployment.service(c.env).embed(query, backgroundOf(c));
    describeAnswer(c, answer, call.deadline);
    const { model: name, version, tier, vectors, tokens } = answer;
    const response: EmbedResponse = { model: name, version, tier, embeddings: [], usage: { tokens } };
    const item = (index: number) => formatVector(vectors[index] as Float32Array<ArrayBuffer>, encoding_format);
    return listResponse(c, { body: response, list: "embeddings", count: vectors.length, item });
  };
}
