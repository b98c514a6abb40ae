import type { AnswerRequest, AnswerResponse } from "../serve/contract/answer.ts";
import { decodeFloats } from "../serve/contract/base64.ts";
import type { ClassifyRequest, ClassifyResponse } from "../serve/contract/classify.ts";
import type { AnswerFields } from "../serve/contract/fields.ts";
import type { FillMaskRequest, FillMaskResponse } from "../serve/contract/fill-mask.ts";
import type { RerankRequest, RerankResponse } from "../serve/contract/rerank.ts";
import type { SimilarityRequest, SimilarityResponse } from "../serve/contract/similarity.ts";
import type { SparseRequest, SparseResponse } from "../serve/contract/sparse.ts";
import type { TagRequest, TagResponse } from "../serve/contract/tag.ts";
import type { TokenVectorsRequest, TokenVectorsResponse } from "../serve/contract/token-vectors.ts";
import type { ZeroShotRequest, ZeroShotResponse } from "../serve/contract/zero-shot.ts";
import { type CamelCase, camelCase } from "./camel-case.ts";
import type { CallOptions } from "./embeddings.ts";
import type { ReplyDetails } from "./request.ts";
import { inUtf16 } from "./utf16-positions.ts";

/** The options of a route, with the names of JavaScript. */
export type RouteOptions<Request, Given extends keyof Request> = CallOptions &
  CamelCase<Omit<Request, Given | "latency_budget_ms" | "encoding_format">>;

/** The answer of a route: its fields with the names of JavaScript, and the details of the request. */
export type RouteAnswer<Response> = CamelCase<Omit<Response, keyof AnswerFields>> & ReplyDetails;

export type ClassifyRequestOptions = RouteOptions<ClassifyRequest, "inputs">;
export type ClassifyInput = CamelCase<Exclude<ClassifyRequest["inputs"], readonly unknown[]>>;
export type Classification = RouteAnswer<ClassifyResponse>;
export type ZeroShotRequestOptions = RouteOptions<ZeroShotRequest, "inputs" | "candidate_labels">;
export type ZeroShotClassification = RouteAnswer<ZeroShotResponse>;
export type TagRequestOptions = RouteOptions<TagRequest, "inputs">;
export type Entities = RouteAnswer<TagResponse>;
export type AnswerRequestOptions = RouteOptions<AnswerRequest, "inputs" | "question" | "context">;
export type AskedQuestion = NonNullable<AnswerRequest["inputs"]>[number];
export type Answers = RouteAnswer<AnswerResponse>;
export type FillMaskRequestOptions = RouteOptions<FillMaskRequest, "inputs">;
export type FilledMasks = RouteAnswer<FillMaskResponse>;
export type SimilarityRequestOptions = RouteOptions<SimilarityRequest, "source" | "texts">;
export type Similarities = RouteAnswer<SimilarityResponse>;
export type RerankRequestOptions = RouteOptions<RerankRequest, "query" | "documents">;
export type Ranking = RouteAnswer<RerankResponse>;
export type SparseRequestOptions = RouteOptions<SparseRequest, "inputs">;
export type SparseVectors = RouteAnswer<SparseResponse>;
export type TokenVectorsRequestOptions = RouteOptions<TokenVectorsRequest, "inputs">;
export type TokenVectorLists = Omit<RouteAnswer<TokenVectorsResponse>, "embeddings"> & {
  /** The vectors of each text, one after the other: [tokens, dimensions]. */
  embeddings: Float32Array<ArrayBuffer>[];
};

export type TextOrTexts = string | readonly string[];

/** Sends the body to a route under `/v1`. */
export type SendTask = <Response extends AnswerFields>(
  route: string,
  body: object,
  options: CallOptions | undefined,
) => Promise<RouteAnswer<Response>>;

const listOf = (texts: TextOrTexts): readonly string[] => (typeof texts === "string" ? [texts] : texts);

/**
 * The tasks, apart from `embed`. Each call is one request, so a list has as many texts as the deployment takes: 2,048 by default.
 * All methods throw a subclass of BertEdgeClientError, or the abort reason of `signal`.
 */
export abstract class TaskMethods {
  protected abstract send: SendTask;

  /** Classifies texts, or pairs of texts. `results` has the labels of each, best first. */
  classify(
    inputs: ClassifyInput | readonly ClassifyInput[],
    options?: ClassifyRequestOptions,
  ): Promise<Classification> {
    return this.send<ClassifyResponse>("classify", { inputs }, options);
  }

  /** Chooses among labels of your own. `results` has the labels of each text, best first. */
  zeroShot(
    inputs: TextOrTexts,
    candidateLabels: readonly string[],
    options?: ZeroShotRequestOptions,
  ): Promise<ZeroShotClassification> {
    return this.send<ZeroShotResponse>("zero-shot", { inputs, candidateLabels }, options);
  }

  /** Finds entities. `results` has those of each text, which are `text.slice(start, end)`. */
  async tag(inputs: TextOrTexts, options?: TagRequestOptions): Promise<Entities> {
    const answer = await this.send<TagResponse>("tag", { inputs }, options);
    const texts = listOf(inputs);
    return { ...answer, results: answer.results.map((entities, i) => inUtf16(texts[i] ?? "", entities)) };
  }

  /** Answers questions from their contexts. `results` has the answers to each, which are `context.slice(start, end)`. */
  async answer(questions: AskedQuestion | readonly AskedQuestion[], options?: AnswerRequestOptions): Promise<Answers> {
    const inputs = [questions].flat() as AskedQuestion[];
    const answer = await this.send<AnswerResponse>("answer", { inputs }, options);
    return { ...answer, results: answer.results.map((found, i) => inUtf16(inputs[i]?.context ?? "", found)) };
  }

  /** Finds the words behind mask tokens. `results` has, for each text and each of its mask tokens, the best ones first. */
  fillMask(inputs: TextOrTexts, options?: FillMaskRequestOptions): Promise<FilledMasks> {
    return this.send<FillMaskResponse>("fill-mask", { inputs }, options);
  }

  /** Compares texts with one. `scores` has one score per text. */
  similarity(source: string, texts: readonly string[], options?: SimilarityRequestOptions): Promise<Similarities> {
    return this.send<SimilarityResponse>("similarity", { source, texts }, options);
  }

  /** Ranks documents by how well they fit a query. `results` has the best first, with their indices. */
  rerank(query: string, documents: readonly string[], options?: RerankRequestOptions): Promise<Ranking> {
    return this.send<RerankResponse>("rerank", { query, documents }, options);
  }

  /** Computes sparse vectors (SPLADE): token ids and their weights. */
  sparse(inputs: TextOrTexts, options?: SparseRequestOptions): Promise<SparseVectors> {
    return this.send<SparseResponse>("sparse", { inputs }, options);
  }

  /** Computes a vector for each token (ColBERT). */
  async tokenVectors(inputs: TextOrTexts, options?: TokenVectorsRequestOptions): Promise<TokenVectorLists> {
    const body = { inputs, encodingFormat: "base64" };
    const { embeddings, ...answer } = await this.send<TokenVectorsResponse>("token-vectors", body, options);
    return { ...answer, embeddings: (embeddings as string[]).map(decodeFloats) };
  }
}

/**
 * Reads the fields of a task from an answer.
 *
 * @throws TypeError if the answer is not from bert-edge
 */
export function resultOf<Response extends AnswerFields>(json: Response): CamelCase<Omit<Response, keyof AnswerFields>> {
  const { model, version, tier, usage, ...result } = json;
  if (!Object.values(result).some(Array.isArray)) throw new TypeError("The answer has no results");
  return camelCase(result) as CamelCase<Omit<Response, keyof AnswerFields>>;
}
