import * as v from "valibot";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { rerankCall } from "../../runtime/tasks/rerank.ts";
import { vectorFormats } from "../../runtime/tasks/vector-formats.ts";
import { bodyOf, FewTokens, onlyAs, PositiveInteger, truncations } from "../contract/fields.ts";
import { formatVector } from "../contract/vector-text.ts";
import { noted } from "../middleware/variables.ts";
import { type Dialect, type FieldsWithoutEffect, inOneSentence } from "../routes/dialect.ts";
import { taskAt } from "../routes/task-route.ts";
import type { AnswerDetails } from "../service.ts";
import { Document, documentResults, RerankResult } from "../tasks/rerank.ts";

const vectorTypes = ["float", "int8", "uint8", "binary", "ubinary", "base64"] as const;
const inputTypes = ["search_document", "search_query", "classification", "clustering"] as const;

const Meta = v.object({
  api_version: v.object({ version: v.literal("2") }),
  billed_units: v.object({ input_tokens: v.number() }),
});

const metaOf = ({ tokens }: AnswerDetails): v.InferOutput<typeof Meta> => ({
  api_version: { version: "2" },
  billed_units: { input_tokens: tokens },
});

const embed = taskAt("/v2/embed", {
  schema: bodyOf({
    images: onlyAs([], "Send `texts`."),
    inputs: onlyAs([], "Send `texts`."),
    texts: v.array(v.string(), "must be a list of strings; images are not supported"),
    input_type: v.optional(v.picklist(inputTypes, `must be one of ${inputTypes.join(", ")}; images are not supported`)),
    embedding_types: v.optional(v.pipe(v.array(v.picklist(vectorTypes)), v.minLength(1)), ["float"]),
    output_dimension: v.optional(PositiveInteger),
    /** Maximum number of tokens of a text, including the special tokens. `truncate` says whether longer texts are cut or refused. */
    max_tokens: v.optional(FewTokens),
    truncate: v.pipe(
      v.optional(v.picklist(["NONE", "START", "END"])),
      v.transform((cut) => cut && truncations[cut]),
    ),
  }),
  summary: "Vectors of texts, for Cohere’s clients",
  task: "embed",
  spelled: (field, value) =>
    field === "dimensions" ? ["output_dimension", value] : [field, field === "truncate" ? "END" : value],
  namesModel: true,
  example: { texts: ["to be"], input_type: "search_document" },
  response: v.object({
    id: v.string(),
    response_type: v.literal("embeddings_by_type"),
    /** A list of vectors for each type that was asked for. */
    embeddings: v.record(v.string(), v.array(v.union([v.array(v.number()), v.string()]))),
    texts: v.array(v.string()),
    meta: Meta,
  }),
  call: ({ texts, input_type, output_dimension, max_tokens: maxTokens, truncate = "right" }) =>
    embedCall(texts, {
      truncate,
      maxTokens,
      dimensions: output_dimension,
      search: input_type === "search_query" ? "query" : input_type === "search_document" ? "document" : undefined,
    }),
  respond: (answer, { texts, embedding_types }, c) => ({
    id: noted(c, "trace")?.requestId ?? "",
    response_type: "embeddings_by_type" as const,
    embeddings: Object.fromEntries(
      Array.from(new Set(embedding_types), (type) => [type, answer.result.map((vector) => formatAs(type, vector))]),
    ),
    texts,
    meta: metaOf(answer),
  }),
});

const formatAs = (type: (typeof vectorTypes)[number], vector: Float32Array<ArrayBuffer>): number[] | string =>
  JSON.parse(type === "base64" ? formatVector(vector, "base64") : formatVector(vectorFormats[type](vector), "float"));

const rerank = taskAt("/v2/rerank", {
  schema: bodyOf({
    query: v.string(),
    documents: v.array(Document),
    top_n: v.optional(PositiveInteger),
    max_tokens_per_doc: v.optional(PositiveInteger),
    return_documents: v.optional(v.boolean(), false),
  }),
  summary: "Documents, ranked for Cohere’s clients",
  namesModel: true,
  example: { query: "Where does Anna work?", documents: ["Anna works in New York.", "to be"] },
  response: v.object({ id: v.string(), results: v.array(RerankResult), meta: Meta }),
  // Cohere's scores are between 0 and 1.
  call: ({ query, documents, top_n, max_tokens_per_doc }) =>
    rerankCall(query, documents, { topN: top_n, maxTokensPerDoc: max_tokens_per_doc, activation: "sigmoid" }),
  respond: (answer, body, c) => ({
    id: noted(c, "trace")?.requestId ?? "",
    results: documentResults(answer.result, body),
    meta: metaOf(answer),
  }),
});

/** Cohere: https://docs.cohere.com/reference */
export const cohere: Dialect = {
  id: "cohere",
  name: "Cohere",
  routes: [embed, rerank],
  below: "/v2/",
  errorBody: v.object({ message: v.string() }),
  writeError: (error) => ({ body: { message: inOneSentence(error) } }),
};

/** Fields of Cohere's clients without effect: https://docs.cohere.com/reference */
export const cohereWithoutEffect: FieldsWithoutEffect = {
  "/v2/embed": {
    priority: "the latency budget decides who waits",
  },
  "/v2/rerank": {
    priority: "the latency budget decides who waits",
  },
};
