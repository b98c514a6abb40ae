import * as v from "valibot";
import { LatencyBudget } from "./fields.ts";

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
