import * as v from "valibot";
import type { Tier } from "./headers.ts";

/** Milliseconds in which the caller needs the answer. The header `x-latency-budget-ms` does the same. */
const LatencyBudget = v.optional(v.number());

const EncodingFormat = v.picklist(["float", "base64"]);
export type EncodingFormat = v.InferOutput<typeof EncodingFormat>;

/** Describes a missing field. If the body has a similar one, as `input` for `inputs`, asks whether it was meant. */
function didYouMean({ message, path }: v.ObjectIssue): string {
  const [missing] = path ?? [];
  if (missing?.type !== "object") return message;
  const similar = Object.keys(missing.input).find(
    (key) => key !== "" && (key.startsWith(missing.key) || missing.key.startsWith(key)),
  );
  return similar === undefined
    ? message
    : `the field is missing, but there is \`${similar}\`. Did you mean \`${missing.key}\`?`;
}

/** The body of `POST /v1/embed`. */
export const EmbedRequest = v.object(
  {
    inputs: v.union([v.string(), v.array(v.string())], "must be a string or a list of strings"),
    /** Name of the model. Default: the model that the deployment serves. */
    model: v.optional(v.string()),
    /** Whether to cut inputs that are too long instead of refusing them. */
    truncate: v.optional(v.boolean(), false),
    /** `base64` encodes the little-endian float32 bytes of each vector. */
    encoding_format: v.optional(EncodingFormat, "float"),
    latency_budget_ms: LatencyBudget,
  },
  didYouMean,
);
export type EmbedRequest = v.InferInput<typeof EmbedRequest>;

export interface EmbedResponse {
  model: string;
  version: string;
  tier: Tier;
  /** One vector per input, in the order of the inputs; base64 strings when `encoding_format` is `base64`. */
  embeddings: number[][] | string[];
  usage: { tokens: number };
}

/** The body of OpenAI's `POST /v1/embeddings`. */
export const OpenAiEmbeddingsRequest = v.object(
  {
    input: v.union(
      [v.string(), v.array(v.string())],
      "must be a string or a list of strings; token ids are not supported",
    ),
    model: v.string(),
    encoding_format: v.optional(EncodingFormat, "float"),
    dimensions: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
    latency_budget_ms: LatencyBudget,
    user: v.optional(v.string()),
  },
  didYouMean,
);

export interface OpenAiEmbeddingsResponse {
  object: "list";
  data: { object: "embedding"; index: number; embedding: number[] | string }[];
  model: string;
  usage: { prompt_tokens: number; total_tokens: number };
}
