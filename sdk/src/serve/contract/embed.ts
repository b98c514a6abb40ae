import * as v from "valibot";
import type { Tier } from "./headers.ts";

/** Milliseconds in which the caller needs the answer. The header `x-latency-budget-ms` does the same. */
const LatencyBudget = v.optional(v.number());

export const EncodingFormat = v.picklist(["float", "base64"]);
export type EncodingFormat = v.InferOutput<typeof EncodingFormat>;

/**
 * Whether one name can be a misspelling of the other: one is the beginning of the other, or they differ only in two
 * neighbouring letters.
 */
function isSimilar(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length < 3) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  let end = 0;
  while (end < short.length - start && short.at(-1 - end) === long.at(-1 - end)) end++;
  return start === short.length || long.length - start - end <= 2;
}

/** Describes a missing field. If the body has a field that can stand for it, as `input` for `inputs`, asks whether it was meant. */
function didYouMean({ message, path }: v.ObjectIssue): string {
  const [missing] = path ?? [];
  if (missing?.type !== "object") return message;
  const found =
    Object.keys(missing.input).find((key) => isSimilar(key, missing.key)) ??
    Object.keys(missing.input).find((key) => /^(texts?|sentences?|documents?|prompts?|quer(y|ies))$/.test(key));
  return found === undefined
    ? "the field is missing"
    : `the field is missing, but there is \`${found}\`. Did you mean \`${missing.key}\`?`;
}

/** Refuses an unknown field whose name is similar to that of an optional field. Without this check, it would have no effect. */
const noMisspeltField = ({ entries }: { entries: Readonly<Record<string, v.GenericSchema>> }) =>
  v.rawCheck<unknown>(({ dataset, addIssue }) => {
    const body = Object(dataset.value) as Record<string, unknown>;
    const absent = Object.keys(entries).filter(
      (name) => entries[name]?.type === "optional" && !Object.hasOwn(body, name),
    );
    for (const key of Object.keys(body)) {
      const meant = key in entries ? undefined : absent.find((name) => isSimilar(key, name));
      if (meant === undefined) continue;
      const path = { type: "object", origin: "key", input: body, key, value: body[key] } as const;
      return addIssue({ message: `there is no such field. Did you mean \`${meant}\`?`, path: [path] });
    }
  });

const EmbedFields = v.object(
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

/** The body of `POST /v1/embed`. */
export const EmbedRequest = v.pipe(v.unknown(), noMisspeltField(EmbedFields), EmbedFields);
export type EmbedRequest = v.InferInput<typeof EmbedFields>;

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
