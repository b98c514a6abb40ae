import type { AnswerFields } from "../serve/contract/fields.ts";
import type { AnswerRequest, AnswerResponse } from "../serve/tasks/answer.ts";
import type { ClassifyRequest, ClassifyResponse } from "../serve/tasks/classify.ts";
import type { FillMaskRequest, FillMaskResponse } from "../serve/tasks/fill-mask.ts";
import type { RerankRequest, RerankResponse } from "../serve/tasks/rerank.ts";
import type { SimilarityRequest, SimilarityResponse } from "../serve/tasks/similarity.ts";
import type { SparseRequest, SparseResponse } from "../serve/tasks/sparse.ts";
import type { TagRequest, TagResponse } from "../serve/tasks/tag.ts";
import type { TokenVectorsRequest, TokenVectorsResponse } from "../serve/tasks/token-vectors.ts";
import type { ZeroShotRequest, ZeroShotResponse } from "../serve/tasks/zero-shot.ts";
import type { ListTask } from "./call-all.ts";
import { type CamelCase, camelCase } from "./camel-case.ts";
import type { CallDetails, CallOptions } from "./embeddings.ts";
import { readVectors } from "./read-vectors.ts";

/** The options of a route, with the names of JavaScript. */
export type RouteOptions<Request, Given extends keyof Request> = CallOptions &
  CamelCase<Omit<Request, Given | "latency_budget_ms" | "encoding_format">>;

/** The answer of a route: its fields with the names of JavaScript, and the details of the call. */
export type RouteAnswer<Response> = CamelCase<Omit<Response, keyof AnswerFields>> & CallDetails;

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

/** Sends inputs in batches. `results` has one for each input. */
export type CallList = <Input, Response extends AnswerFields, Result>(
  task: ListTask<Input, Response, Result>,
  inputs: readonly Input[],
  options: CallOptions | undefined,
) => Promise<CallDetails & { results: Result[] }>;

const listOf = (texts: TextOrTexts): readonly string[] => (typeof texts === "string" ? [texts] : texts);

/**
 * The tasks, apart from `embed`. Lists are split into requests, as those of `embed`. All methods throw a subclass of
 * BertEdgeClientError, or the abort reason of `signal`.
 */
export abstract class TaskMethods {
  protected abstract callList: CallList;

  /** Classifies texts, or pairs of texts. `results` has the labels of each, best first. */
  classify(
    inputs: ClassifyInput | readonly ClassifyInput[],
    options?: ClassifyRequestOptions,
  ): Promise<Classification> {
    const list = [inputs].flat() as ClassifyInput[];
    return this.callList(
      { route: "classify", body: (inputs) => ({ inputs }), read: (json: ClassifyResponse) => json.results },
      list,
      options,
    );
  }

  /** Chooses among labels of your own. `results` has the labels of each text, best first. */
  zeroShot(
    inputs: TextOrTexts,
    candidateLabels: readonly string[],
    options?: ZeroShotRequestOptions,
  ): Promise<ZeroShotClassification> {
    return this.callList(
      {
        route: "zero-shot",
        body: (inputs) => ({ inputs, candidateLabels }),
        read: (json: ZeroShotResponse) => json.results,
      },
      listOf(inputs),
      options,
    );
  }

  /** Finds entities. `results` has those of each text, which are `text.slice(start, end)`. */
  tag(inputs: TextOrTexts, options?: TagRequestOptions): Promise<Entities> {
    return this.callList(
      {
        route: "tag",
        body: (inputs) => ({ inputs }),
        read: (json: TagResponse, texts) => json.results.map((entities, i) => inUtf16(texts[i] ?? "", entities)),
      },
      listOf(inputs),
      options,
    );
  }

  /** Answers questions from their contexts. `results` has the answers to each, which are `context.slice(start, end)`. */
  answer(questions: AskedQuestion | readonly AskedQuestion[], options?: AnswerRequestOptions): Promise<Answers> {
    return this.callList(
      {
        route: "answer",
        body: (inputs) => ({ inputs }),
        read: (json: AnswerResponse, asked) => json.results.map((found, i) => inUtf16(asked[i]?.context ?? "", found)),
      },
      [questions].flat() as AskedQuestion[],
      options,
    );
  }

  /** Finds the words behind mask tokens. `results` has, for each text and each of its mask tokens, the best ones first. */
  fillMask(inputs: TextOrTexts, options?: FillMaskRequestOptions): Promise<FilledMasks> {
    return this.callList(
      { route: "fill-mask", body: (inputs) => ({ inputs }), read: (json: FillMaskResponse) => camelCase(json.results) },
      listOf(inputs),
      options,
    );
  }

  /**
   * Compares texts with one. `scores` has one score per text: by the model's own function, which is the cosine by default. Distances are
   * negative.
   */
  async similarity(
    source: string,
    texts: readonly string[],
    options?: SimilarityRequestOptions,
  ): Promise<Similarities> {
    const { results: scores, ...details } = await this.callList(
      {
        route: "similarity",
        body: (texts) => ({ source, texts }),
        read: (json: SimilarityResponse) => json.scores,
      },
      texts,
      options,
    );
    return { ...details, scores };
  }

  /**
   * Ranks documents by how well they fit a query. `results` has the best first, with their indices. Scores of cross-encoders are sigmoids,
   * 0 to 1, or logits if the model says so.
   */
  async rerank(query: string, documents: readonly string[], options?: RerankRequestOptions): Promise<Ranking> {
    const { results, ...details } = await this.callList(
      {
        route: "rerank",
        body: (documents) => ({ query, documents }),
        // In the order of the ranks, because equal scores can have different ones.
        read: (json: RerankResponse, documents) => {
          const results = camelCase(json.results);
          return documents.map((_, rank) => {
            const result = results[rank];
            return result && { ...result, beyondRank: result.index - rank };
          });
        },
      },
      documents,
      options,
    );
    const ranked = results
      .flatMap((result, place) => {
        if (!result) return [];
        const { beyondRank, ...found } = result;
        return [{ ...found, index: place + beyondRank }];
      })
      .sort((a, b) => b.relevanceScore - a.relevanceScore);
    return { ...details, results: ranked.slice(0, options?.topN) };
  }

  /** Computes sparse vectors (SPLADE): token ids and their weights. */
  async sparse(inputs: TextOrTexts, options?: SparseRequestOptions): Promise<SparseVectors> {
    const { results: embeddings, ...details } = await this.callList(
      { route: "sparse", body: (inputs) => ({ inputs }), read: (json: SparseResponse) => json.embeddings },
      listOf(inputs),
      options,
    );
    return { ...details, embeddings };
  }

  /** Computes a vector for each token (ColBERT). */
  async tokenVectors(inputs: TextOrTexts, options?: TokenVectorsRequestOptions): Promise<TokenVectorLists> {
    let dimensions = 0;
    const { results: embeddings, ...details } = await this.callList(
      {
        route: "token-vectors",
        body: (inputs) => ({ inputs, encodingFormat: "base64" }),
        read(json: TokenVectorsResponse) {
          dimensions = json.dimensions;
          return readVectors(json.embeddings, (length) => length % dimensions === 0);
        },
      },
      listOf(inputs),
      options,
    );
    return { ...details, dimensions, embeddings };
  }
}

/** Turns numbers of code points of a text, which the service counts, into UTF-16 indices, which `slice` takes. */
function utf16Positions(text: string): (codePoints: number) => number {
  const starts = [0];
  for (const character of text) starts.push((starts.at(-1) as number) + character.length);
  return (codePoints) => starts[codePoints] as number;
}

/** Changes the places of parts of a text to UTF-16 indices. */
export function inUtf16<Part extends { start: number; end: number }>(text: string, parts: readonly Part[]): Part[] {
  const position = utf16Positions(text);
  return parts.map((part) => ({ ...part, start: position(part.start), end: position(part.end) }));
}
