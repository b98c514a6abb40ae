import { embedCall } from "../../runtime/tasks/embed-call.ts";
import { EmbedRequest, type EmbedResponse } from "../contract/embed.ts";
import { formatVector } from "../contract/format-vector.ts";
import { listResponse } from "./list-response.ts";
import type { TaskRoute } from "./task-route.ts";

/** `POST /v1/embed` */
export const embedRoute: TaskRoute<typeof EmbedRequest, readonly Float32Array<ArrayBuffer>[]> = {
  schema: EmbedRequest,
  call: ({ inputs, truncate }) => embedCall(typeof inputs === "string" ? [inputs] : inputs, { truncate }),
  respond(c, { model, version, tier, result, tokens }, { encoding_format }) {
    const response: EmbedResponse = { model, version, tier, embeddings: [], usage: { tokens } };
    const item = (index: number) => formatVector(result[index] as Float32Array<ArrayBuffer>, encoding_format);
    return listResponse(c, { body: response, list: "embeddings", count: result.length, item });
  },
};
