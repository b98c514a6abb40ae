import type { Handler } from "hono";
import { EmbedRequest, type EmbedResponse } from "../contract/embed.ts";
import { BUDGET_HEADER } from "../contract/headers.ts";
import { jsonBody } from "../middleware/json-body.ts";
import { startDeadline } from "../routing/deadline.ts";
import type { EmbedService } from "../service.ts";
import { backgroundOf, describeAnswer, encodeVector } from "./respond.ts";

/** `POST /v1/embed` */
export function embedRoute<Env extends object>(service: (env: Env) => EmbedService): Handler<{ Bindings: Env }> {
  return async function embed(c) {
    const deadline = startDeadline(c.req.header(BUDGET_HEADER));
    const { inputs, truncate, model, encoding_format } = await jsonBody(c, EmbedRequest);
    const texts = typeof inputs === "string" ? [inputs] : inputs;
    const query = { texts, truncate, model, dimensions: undefined, deadline };
    const answer = await service(c.env).embed(query, backgroundOf(c));
    describeAnswer(c, answer, deadline);
    return c.json<EmbedResponse>({
      model: answer.model,
      version: answer.version,
      tier: answer.tier,
      embeddings: answer.vectors.map((vector) => encodeVector(vector, encoding_format)) as number[][] | string[],
      usage: { tokens: answer.tokens },
    });
  };
}
