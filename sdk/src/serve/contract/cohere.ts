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
  truncate: v.optional(v.picklist(["NONE", "END"], "must be NONE or END: texts are cut at their end"), "END"),
});

export interface CohereEmbedResponse {
  id: string;
  response_type: "embeddings_by_type";
  embeddings: Partial<Record<CohereType, unknown[]>>;
  texts: string[];
  meta: CohereMeta;
}

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

export interface CohereRerankResponse {
  id: string;
  results: { index: number; relevance_score: number; document?: { text: string } }[];
  meta: CohereMeta;
}

export interface CohereMeta {
  api_version: { version: "2" };
  billed_units: { input_tokens: number };
}

/** The body of an error. */
export interface CohereErrorBody {
  message: string;
}
