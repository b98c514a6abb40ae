import * as v from "valibot";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { type RankedDocument, rerankCall } from "../../runtime/tasks/rerank.ts";
import { vectorFormats } from "../../runtime/tasks/vector-formats.ts";
import { LatencyBudget } from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { noted } from "../middleware/variables.ts";
import { type Dialect, inOneSentence, taskAt } from "../routes/dialect.ts";
import type { TaskRoute } from "../routes/task-route.ts";
import type { AnswerDetails } from "../service.ts";
import { rankedResults, textOfDocument } from "../tasks/rerank.ts";

// Bodies of Cohere's API: https://docs.cohere.com/reference

export const cohereTypes = ["float", "int8", "uint8", "binary", "ubinary", "base64"] as const;
export type CohereType = (typeof cohereTypes)[number];

const inputTypes = ["search_document", "search_query", "classification", "clustering"] as const;

/** The body of `POST /v2/embed`. */
export const CohereEmbedRequest = v.object({
  model: v.string(),
  latency_budget_ms: LatencyBudget,
  texts: v.array(v.string(), "must be a list of strings; images are not supported"),
  input_type: v.optional(v.picklist(inputTypes, `must be one of ${inputTypes.join(", ")}; images are not supported`)),
  embedding_types: v.optional(v.pipe(v.array(v.picklist(cohereTypes)), v.minLength(1)), ["float"]),
  output_dimension: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  truncate: v.optional(v.picklist(["NONE", "START", "END"]), "END"),
});

const CohereMeta = v.object({
  api_version: v.object({ version: v.literal("2") }),
  billed_units: v.object({ input_tokens: v.number() }),
});
export type CohereMeta = v.InferOutput<typeof CohereMeta>;

export const CohereEmbedResponse = v.object({
  id: v.string(),
  response_type: v.literal("embeddings_by_type"),
  /** A list of vectors for each type that was asked for. */
  embeddings: v.record(v.string(), v.array(v.union([v.array(v.number()), v.string()]))),
  texts: v.array(v.string()),
  meta: CohereMeta,
});
export type CohereEmbedResponse = v.InferOutput<typeof CohereEmbedResponse>;

/** The body of `POST /v2/rerank`. */
export const CohereRerankRequest = v.object({
  model: v.string(),
  latency_budget_ms: LatencyBudget,
  query: v.string(),
  documents: v.array(
    v.union([v.string(), v.object({ text: v.string() })], "must be a string, or an object with `text`"),
  ),
  top_n: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  return_documents: v.optional(v.boolean(), false),
});

export const CohereRerankResponse = v.object({
  id: v.string(),
  results: v.array(
    v.object({
      index: v.number(),
      relevance_score: v.number(),
      document: v.exactOptional(v.object({ text: v.string() })),
    }),
  ),
  meta: CohereMeta,
});
export type CohereRerankResponse = v.InferOutput<typeof CohereRerankResponse>;

/** The body of an error. */
export const CohereErrorBody = v.object({ message: v.string() });
export type CohereErrorBody = v.InferOutput<typeof CohereErrorBody>;

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
      id: noted(c, "trace")?.requestId ?? "",
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

/** Cohere's `POST /v2/rerank`. */
export const cohereRerankRoute: TaskRoute<typeof CohereRerankRequest, RankedDocument[]> = {
  schema: CohereRerankRequest,
  about: {
    summary: "Documents, ranked for Cohere’s clients",
    example: {
      model: "bert-edge-mini",
      query: "Where does Anna work?",
      documents: ["Anna works in New York.", "to be"],
    },
    response: CohereRerankResponse,
  },
  call: ({ query, documents, top_n }) => rerankCall(query, documents.map(textOfDocument), { topN: top_n }),
  respond: (c, answer, body) =>
    c.json<CohereRerankResponse>({
      id: noted(c, "trace")?.requestId ?? "",
      results: rankedResults(answer.result, body),
      meta: cohereMeta(answer),
    }),
};

export const cohereMeta = ({ tokens }: AnswerDetails): CohereMeta => ({
  api_version: { version: "2" },
  billed_units: { input_tokens: tokens },
});

/** Cohere: https://docs.cohere.com/reference */
export const cohere: Dialect = {
  id: "cohere",
  name: "Cohere",
  routes: [taskAt("/v2/embed", cohereEmbedRoute), taskAt("/v2/rerank", cohereRerankRoute)],
  errorBody: CohereErrorBody,
  writeError: (error) => ({ body: { message: inOneSentence(error) } satisfies CohereErrorBody }),
};
