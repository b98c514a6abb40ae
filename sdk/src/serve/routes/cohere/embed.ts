import { embedCall } from "../../../runtime/tasks/embed-call.ts";
import { vectorFormats } from "../../../runtime/tasks/vector-formats.ts";
import { CohereEmbedRequest, CohereEmbedResponse, type CohereType } from "../../contract/cohere.ts";
import { formatVector } from "../../contract/format-vector.ts";
import { requestIdOf } from "../../middleware/request-id.ts";
import type { TaskRoute } from "../task-route.ts";
import { cohereMeta } from "./meta.ts";

/** Cohere's `POST /v2/embed`. */
export const cohereEmbedRoute: TaskRoute<typeof CohereEmbedRequest, Float32Array<ArrayBuffer>[]> = {
  schema: CohereEmbedRequest,
  about: {
    summary: "Vectors of texts, for Cohere’s clients",
    example: { model: "bert-edge-mini", texts: ["to be"], input_type: "search_document" },
    response: CohereEmbedResponse,
  },
  call: ({ texts, input_type, output_dimension, truncate }) =>
    embedCall(texts, {
      truncate: truncations[truncate],
      dimensions: output_dimension,
      search: input_type === "search_query" ? "query" : input_type === "search_document" ? "document" : undefined,
    }),
  respond(c, answer, { texts, embedding_types }) {
    const formatted = [...new Set(embedding_types)].map((type) => [
      type,
      answer.result.map((vector) => formatAs(type, vector)),
    ]);
    const response: CohereEmbedResponse = {
      id: requestIdOf(c),
      response_type: "embeddings_by_type",
      embeddings: Object.fromEntries(formatted),
      texts,
      meta: cohereMeta(answer),
    };
    return c.json(response);
  },
};

const truncations = { NONE: false, START: "left", END: "right" } as const;

const formatAs = (type: CohereType, vector: Float32Array<ArrayBuffer>): unknown =>
  JSON.parse(type === "base64" ? formatVector(vector, "base64") : formatVector(vectorFormats[type](vector), "float"));
