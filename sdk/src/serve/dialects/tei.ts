import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import * as v from "valibot";
import { totalLength } from "../../artifact/total-length.ts";
import { classifyCall, type LabelScore } from "../../runtime/tasks/classify.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { type RankedDocument, rerankCall, similarityCall } from "../../runtime/tasks/rerank.ts";
import { type SparseEntries, sparseCall } from "../../runtime/tasks/sparse.ts";
import { type TokenVectors, tokenVectorsCall } from "../../runtime/tasks/token-vectors.ts";
import { type TextInput, textsOf } from "../../runtime/text-input.ts";
import type { Side, Truncation } from "../../runtime/truncation.ts";
import { errorStatus, type HttpErrorCode } from "../contract/errors.ts";
import {
  EmbedInputs,
  embedInputsIn,
  LatencyBudget,
  notList,
  PositiveInteger,
  Texts,
  textsIn,
} from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { type Dialect, inOneSentence, taskAt } from "../routes/dialect.ts";
import { listResponse } from "../routes/list-response.ts";
import type { TaskRoute } from "../routes/task-route.ts";
import type { AnswerDetails } from "../service.ts";
import { formatTokenVectors } from "../tasks/token-vectors.ts";
import { teiTokenizerRoutes } from "./tei-tokenizer.ts";

// Bodies of text-embeddings-inference: https://huggingface.github.io/text-embeddings-inference

/** The server cuts inputs that are too long unless a request forbids it, as text-embeddings-inference does by default. */
const cutting = {
  truncate: v.nullish(v.boolean(), true),
  truncation_direction: v.nullish(v.picklist(["Left", "left", "Right", "right"])),
};
const common = { ...cutting, latency_budget_ms: LatencyBudget };

const Cutting = v.object(cutting);

/** Returns where inputs are cut. Default: where the model's own tokenizer cuts them. */
export const teiTruncation = (wishes?: v.InferOutput<typeof Cutting> | null): Truncation =>
  wishes ? wishes.truncate && ((wishes.truncation_direction?.toLowerCase() as Side | undefined) ?? true) : true;

/** The body of `POST /embed`. */
export const TeiEmbedRequest = v.object({
  inputs: EmbedInputs,
  ...common,
  prompt_name: v.nullish(v.string()),
  normalize: v.nullish(v.boolean(), true),
  dimensions: v.nullish(PositiveInteger),
});

/** The body of `POST /embed_all` and `POST /embed_sparse`. */
export const TeiTokensRequest = v.object({ inputs: Texts, ...common, prompt_name: v.nullish(v.string()) });

const Pair = v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(2, "must have one or two strings"));

/** The body of `POST /predict`: a text, a pair of texts as a list, or a list of lists. */
export const TeiPredictRequest = v.object({
  inputs: v.union(
    [v.string(), Pair, v.array(Pair)],
    "must be a string, a list of one or two strings, or a list of such lists",
  ),
  raw_scores: v.nullish(v.boolean(), false),
  ...common,
});

/** The body of `POST /rerank`. */
export const TeiRerankRequest = v.object({
  query: v.string(),
  texts: v.array(v.string()),
  raw_scores: v.nullish(v.boolean(), false),
  return_text: v.nullish(v.boolean(), false),
  ...common,
});

/** The body of `POST /similarity`. */
export const TeiSimilarityRequest = v.object({
  inputs: v.object({ source_sentence: v.string(), sentences: v.array(v.string()) }),
  parameters: v.nullish(notList(Cutting)),
  latency_budget_ms: LatencyBudget,
});

const Vectors = v.array(v.array(v.number()));
const TeiLabels = v.array(v.object({ label: v.string(), score: v.number() }));

/** Answers of text-embeddings-inference, by the name of the route. */
export const teiResponses = {
  embed: Vectors,
  embedAll: v.array(Vectors),
  embedSparse: v.array(v.array(v.object({ index: v.number(), value: v.number() }))),
  predict: v.union([TeiLabels, v.array(TeiLabels)]),
  rerank: v.array(v.object({ index: v.number(), score: v.number(), text: v.exactOptional(v.string()) })),
  similarity: v.array(v.number()),
};

/** The body of an error. */
export const TeiErrorBody = v.object({
  error: v.string(),
  error_type: v.picklist(["Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer", "Empty"]),
});
export type TeiErrorBody = v.InferOutput<typeof TeiErrorBody>;

/** `POST /embed` of text-embeddings-inference. */
export const teiEmbedRoute: TaskRoute<typeof TeiEmbedRequest, Float32Array<ArrayBuffer>[]> = {
  schema: TeiEmbedRequest,
  about: {
    summary: "Vectors of texts, for clients of text-embeddings-inference",
    example: { inputs: ["to be"] },
    response: teiResponses.embed,
  },
  call: ({ inputs, normalize, prompt_name, dimensions, ...wishes }) =>
    embedCall(embedInputsIn(inputs), {
      truncate: teiTruncation(wishes),
      normalize,
      prompt: prompt_name ?? undefined,
      dimensions: dimensions ?? undefined,
    }),
  respond(c, answer, { inputs }) {
    const { result } = answer;
    describeWork(c, answer, embedInputsIn(inputs).map(String));
    const item = (index: number) => formatVector(result[index] as Float32Array<ArrayBuffer>, "float");
    return listResponse(c, { count: result.length, item });
  },
};

/** `POST /embed_all` of text-embeddings-inference: a vector for each token. */
export const teiEmbedAllRoute: TaskRoute<typeof TeiTokensRequest, TokenVectors[]> = {
  schema: TeiTokensRequest,
  about: {
    summary: "A vector for each token of texts, for clients of text-embeddings-inference",
    example: { inputs: ["to be"] },
    response: teiResponses.embedAll,
  },
  call: ({ inputs, prompt_name, ...wishes }) =>
    tokenVectorsCall(textsIn(inputs), { truncate: teiTruncation(wishes), prompt: prompt_name ?? undefined }),
  respond(c, answer, { inputs }) {
    const { result } = answer;
    describeWork(c, answer, textsIn(inputs));
    const item = (index: number) => formatTokenVectors(result[index] as TokenVectors);
    return listResponse(c, { count: result.length, item });
  },
};

/** `POST /embed_sparse` of text-embeddings-inference. */
export const teiEmbedSparseRoute: TaskRoute<typeof TeiTokensRequest, SparseEntries[]> = {
  schema: TeiTokensRequest,
  about: {
    summary: "Sparse vectors of texts, for clients of text-embeddings-inference",
    example: { inputs: ["to be"] },
    response: teiResponses.embedSparse,
  },
  call: ({ inputs, prompt_name, ...wishes }) =>
    sparseCall(textsIn(inputs), { truncate: teiTruncation(wishes), prompt: prompt_name ?? undefined }),
  respond(c, answer, { inputs }) {
    const { result } = answer;
    describeWork(c, answer, textsIn(inputs));
    const item = (position: number) => {
      const { indices, values } = result[position] as SparseEntries;
      return JSON.stringify(indices.map((index, i) => ({ index, value: values[i] })));
    };
    return listResponse(c, { count: result.length, item });
  },
};

type Inputs = string | readonly string[] | readonly (readonly string[])[];

/** `POST /predict` of text-embeddings-inference. A list of two strings is one pair. */
export const teiPredictRoute: TaskRoute<typeof TeiPredictRequest, LabelScore[][]> = {
  schema: TeiPredictRequest,
  about: {
    summary: "Labels of texts, or of pairs of texts, for clients of text-embeddings-inference",
    example: { inputs: "to be" },
    response: teiResponses.predict,
  },
  call: ({ inputs, raw_scores, ...wishes }) =>
    classifyCall(inputsOf(inputs), { truncate: teiTruncation(wishes), ...(raw_scores && { activation: "none" }) }),
  respond(c, answer, { inputs }) {
    describeWork(c, answer, inputsOf(inputs).flatMap(textsOf));
    return c.json(isBatch(inputs) ? answer.result : answer.result[0]);
  },
};

const isBatch = (inputs: Inputs): inputs is readonly (readonly string[])[] =>
  typeof inputs === "object" && typeof inputs[0] === "object";

function inputsOf(inputs: Inputs): TextInput[] {
  if (typeof inputs === "string") return [inputs];
  return (isBatch(inputs) ? inputs : [inputs as readonly string[]]).map(
    ([first = "", second]): TextInput => (second === undefined ? first : [first, second]),
  );
}

/** `POST /rerank` of text-embeddings-inference, which knows no activation of a model: scores are sigmoids, or logits. */
export const teiRerankRoute: TaskRoute<typeof TeiRerankRequest, RankedDocument[]> = {
  schema: TeiRerankRequest,
  about: {
    summary: "Texts, ranked by how well they fit a query, for clients of text-embeddings-inference",
    example: { query: "Where does Anna work?", texts: ["Anna works in New York.", "to be"] },
    response: teiResponses.rerank,
  },
  call: ({ query, texts, raw_scores, ...wishes }) =>
    rerankCall(query, texts, { truncate: teiTruncation(wishes), activation: raw_scores ? "none" : "sigmoid" }),
  respond(c, answer, { query, texts, return_text }) {
    describeWork(c, answer, [query, ...texts]);
    return c.json(
      answer.result.map(({ index, score }) => ({ index, score, ...(return_text && { text: texts[index] }) })),
    );
  },
};

/** `POST /similarity` of text-embeddings-inference, which compares the vectors of all models by their cosine. */
export const teiSimilarityRoute: TaskRoute<typeof TeiSimilarityRequest, number[]> = {
  schema: TeiSimilarityRequest,
  about: {
    summary: "Scores of sentences, compared with one, for clients of text-embeddings-inference",
    example: { inputs: { source_sentence: "to be", sentences: ["not to be"] } },
    response: teiResponses.similarity,
  },
  call: ({ inputs: { source_sentence, sentences }, parameters }) =>
    similarityCall(source_sentence, sentences, { truncate: teiTruncation(parameters), similarity: "cosine" }),
  respond(c, answer, { inputs: { source_sentence, sentences } }) {
    describeWork(c, answer, [source_sentence, ...sentences]);
    return c.json(answer.result);
  },
};

/** Execution providers of GPUs. */
const onGpu = new Set(["cuda", "tensorrt", "webgpu"]);

/**
 * Sets the headers in which text-embeddings-inference describes its work, in whole milliseconds. The time that an answer of the
 * region took in total counts as inference.
 */
export function describeWork(c: Context, answer: AnswerDetails, texts: readonly string[]): void {
  const { timings, provider, tokens } = answer;
  const inferenceMs = timings["compute"] ?? timings["region"] ?? 0;
  const queueMs = timings["queue"] ?? 0;
  const ms = (value: number) => `${Math.round(value)}`;
  c.header("x-compute-type", onGpu.has(provider) ? "gpu" : "cpu");
  c.header("x-compute-time", ms(inferenceMs));
  c.header("x-compute-characters", `${totalLength(texts)}`);
  c.header("x-compute-tokens", `${tokens}`);
  c.header("x-total-time", ms(queueMs + inferenceMs));
  c.header("x-tokenization-time", "0");
  c.header("x-queue-time", ms(queueMs));
  c.header("x-inference-time", ms(inferenceMs));
}

/** text-embeddings-inference: https://huggingface.github.io/text-embeddings-inference */
export const tei: Dialect = {
  id: "tei",
  name: "text-embeddings-inference",
  routes: [
    taskAt("/embed", teiEmbedRoute),
    taskAt("/embed_all", teiEmbedAllRoute),
    taskAt("/embed_sparse", teiEmbedSparseRoute),
    taskAt("/predict", teiPredictRoute),
    taskAt("/rerank", teiRerankRoute),
    taskAt("/similarity", teiSimilarityRoute),
    ...teiTokenizerRoutes,
  ],
  errorBody: TeiErrorBody,
  writeError(error) {
    const { status, type } = teiFormat(error.code);
    return { status, body: { error: inOneSentence(error), error_type: type } satisfies TeiErrorBody };
  },
};

/** Returns the status and the type that text-embeddings-inference gives to an error. */
function teiFormat(code: HttpErrorCode): { status: ContentfulStatusCode; type: TeiErrorBody["error_type"] } {
  if (code === "overloaded") return { status: 429, type: "Overloaded" };
  if (code === "input_empty") return { status: 400, type: "Empty" };
  if (code === "internal") return { status: 424, type: "Backend" };
  if (code === "input_too_long") return { status: 422, type: "Tokenizer" };
  const status = errorStatus[code];
  if (status === 400) return { status: 422, type: "Validation" };
  return { status, type: status < 500 ? "Validation" : "Unhealthy" };
}
