import type { Manifest, ScoreActivation, Similarity } from "../../artifact/manifest.ts";
import { inputEncoder } from "../input-encoder.ts";
import type { TextInput } from "../text-input.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Truncation } from "../truncation.ts";
import { logistic } from "./classify.ts";
import { pairScorer } from "./pair-scorer.ts";
import { promptOf, searchPrompts, unpooledEncoder, withPrompt } from "./prompt.ts";
import { bestOf } from "./scores.ts";
import { cosine } from "./sentence-vector.ts";
import type { Encode, EncodingOptions, ModelCall, ModelOutput, TaskCall } from "./task-call.ts";
import { cannotRank } from "./unfit-classifier.ts";

export interface RerankOptions {
  /** Whether to cut texts that are too long. Otherwise they are refused. Default: the deployment's setting, or `true`. */
  readonly truncate?: Truncation | undefined;
  /** Maximum number of tokens that are read of a document, without special tokens. Default: as many as the model reads. */
  readonly maxTokensPerDoc?: number | undefined;
  /** Maximum number of results. Default: all. */
  readonly topN?: number | undefined;
}

/** Options of ranking, including those that only the HTTP interfaces of other services have. */
export interface RerankParameters extends RerankOptions {
  /** Function that turns a cross-encoder's logits into scores. Default: the model's own. Both activations give the same order. */
  readonly activation?: ScoreActivation | undefined;
}

/** Options of comparing texts, including those that only the HTTP interfaces of other services have. */
export interface SimilarityParameters extends EncodingOptions, Pick<RerankParameters, "activation"> {
  /** Similarity function of a sentence encoder's vectors. Default: the model's own, else the cosine. */
  readonly similarity?: Similarity | "cosine" | undefined;
}

/**
 * Ranks documents by how well they answer a query, best first. A cross-encoder reads the query with each document; a sentence
 * encoder compares their vectors.
 */
export const rerankCall = (
  query: string,
  documents: readonly string[],
  { truncate = true, maxTokensPerDoc, topN, activation }: RerankParameters = {},
): TaskCall<RankedDocument[], ModelOutput> => ({
  ...comparison(query, documents, ["Document", "The query"]),
  on(manifest) {
    const { decode, scoreOf, ...call } = compare(query, documents, {
      ...{ manifest, truncate, activation, maxTokensPerDoc },
      isSearch: true,
    });
    return { ...call, decode: (outputs) => rankedDocuments(decode(outputs), { scoreOf, topN }) };
  },
});

/** Scores how similar texts are to another text: one score per text, in their order. */
export const similarityCall = (
  source: string,
  texts: readonly string[],
  { truncate = false, ...how }: SimilarityParameters = {},
): TaskCall<number[], ModelOutput> => ({
  ...comparison(source, texts, ["Text", "The text that is compared with the others"]),
  on(manifest) {
    const { decode, scoreOf, ...call } = compare(source, texts, { ...how, manifest, truncate, isSearch: false });
    return { ...call, decode: (outputs) => decode(outputs).map(scoreOf) };
  },
});

/** Lists the texts of a comparison. `source` comes last, so that the other texts have the same indices as in the request. */
const comparison = (source: string, others: readonly string[], [other, first]: readonly [string, string]) => ({
  texts: [...others, source],
  size: others.length,
  nameOf: (index: number) => (index < others.length ? `${other} ${index}` : first),
});

interface Comparison extends Omit<SimilarityParameters, "truncate">, Pick<RerankParameters, "maxTokensPerDoc"> {
  readonly manifest: Manifest;
  readonly truncate: Truncation;
  /** Whether the source is a query that the other texts answer. Otherwise, all texts are of the same kind. */
  readonly isSearch: boolean;
}

/** Computes a number for each text, by which texts are sorted. Texts with different numbers can have the same score. */
interface ComparingCall extends ModelCall<number[], ModelOutput> {
  /** Turns such a number into the score that callers see. */
  readonly scoreOf: (rank: number) => number;
}

function compare(
  source: string,
  others: readonly string[],
  { manifest, truncate, activation, similarity, promptName, maxTokensPerDoc, isSearch }: Comparison,
): ComparingCall {
  if (manifest.task === "embed") {
    const same = promptOf(manifest, promptName);
    const { query, document } = isSearch ? searchPrompts(manifest) : { query: same, document: same };
    return {
      inputs: [...withPrompt(document, others), query + source],
      truncate,
      encoder: shortening(
        unpooledEncoder(manifest, truncate, (index) => (index < others.length ? document : query)),
        (cut, index) => (index < others.length ? document + cut(others[index] as string) : query + source),
      ),
      decode: (vectors) =>
        similarities(vectors.at(-1) as Float32Array, vectors.slice(0, -1), similarity ?? manifest.similarity),
      scoreOf: (similarity) => similarity,
    };
  }
  const scorer = pairScorer(manifest);
  if (!scorer) throw cannotRank(manifest);
  const query = promptOf(scorer.manifest, promptName) + source;
  return {
    inputs: others.map((other): TextInput => [query, other]),
    truncate,
    encoder: shortening(undefined, (cut, index) => [query, cut(others[index] as string)]),
    decode: (outputs) => outputs.map(scorer.logitOf),
    scoreOf: (activation ?? scorer.activation) === "none" ? (logit) => logit : logistic,
  };

  /**
   * Returns an encoder that cuts documents to `maxTokensPerDoc`, or `encoder` if no cut is needed.
   *
   * @param shortened makes an input whose document is cut
   */
  function shortening(
    encoder: ((tokenizer: Tokenizer) => Encode<ModelOutput>) | undefined,
    shortened: (cut: (document: string) => string, index: number) => TextInput,
  ): ((tokenizer: Tokenizer) => Encode<ModelOutput>) | undefined {
    // A limit that is not below the model's own has no effect.
    if (maxTokensPerDoc === undefined || maxTokensPerDoc >= manifest.maxTokens) return encoder;
    return (tokenizer) => {
      const encodeOne = inputEncoder(tokenizer, manifest, truncate);
      const encode = encoder?.(tokenizer) ?? ((input, index) => ({ sequences: [encodeOne(input, index)] }));
      const cut = (document: string) => firstTokens(tokenizer, document, maxTokensPerDoc);
      return (_, index) => {
        const input = shortened(cut, index);
        return { ...encode(input, index), text: typeof input === "string" ? input : undefined };
      };
    };
  }
}

/**
 * Returns the beginning of a text, up to the end of a token.
 *
 * @param most maximum number of tokens, without special tokens
 * @throws BertEdgeError `offsets_unsupported`
 */
function firstTokens(tokenizer: Tokenizer, text: string, most: number): string {
  const { before, after } = tokenizer.around;
  const limit = most + before + after;
  const { offsets, words, tokens } = tokenizer.encodePlaced(text, limit, "right");
  if (tokens <= limit) return text;
  return text.slice(0, offsets[2 * words.findLastIndex((word) => word >= 0) + 1]);
}

/** A document's place in the request, and how well it answers the query. */
export interface RankedDocument {
  readonly index: number;
  readonly score: number;
}

/** Sums `of(x, y)` over the dimensions of two vectors. */
const sum = (a: Float32Array, b: Float32Array, of: (x: number, y: number) => number): number =>
  a.reduce((total, x, i) => total + of(x, b[i] as number), 0);

const functions: Readonly<Record<Similarity | "cosine", (a: Float32Array, b: Float32Array) => number>> = {
  cosine,
  dot: (a, b) => sum(a, b, (x, y) => x * y),
  euclidean: (a, b) => -Math.sqrt(sum(a, b, (x, y) => (x - y) ** 2)),
  manhattan: (a, b) => -sum(a, b, (x, y) => Math.abs(x - y)),
};

/**
 * Compares a text with others, with the similarity function of sentence-transformers that the model names. Distances are negative,
 * so that a larger number means more similar. Reranking with a sentence encoder uses these numbers as scores, too.
 *
 * @param source [dimensions]
 * @param vectors [texts] of [dimensions]
 * @param similarity default: the cosine, -1 to 1
 * @returns [texts]
 */
export const similarities = (
  source: Float32Array,
  vectors: readonly Float32Array[],
  similarity: Similarity | "cosine" = "cosine",
): number[] => vectors.map((vector) => functions[similarity](source, vector));

interface RankedParameters extends Pick<RerankParameters, "topN"> {
  readonly scoreOf: (rank: number) => number;
}

/**
 * Sorts documents, best first. Of equal documents, the earlier one comes first. A sigmoid is 1 for all logits above 37, so scores are
 * computed after sorting.
 *
 * @param ranks numbers by which documents are sorted, such as logits: [documents]
 */
export const rankedDocuments = (
  ranks: readonly number[],
  { scoreOf, topN = ranks.length }: RankedParameters,
): RankedDocument[] =>
  bestOf(ranks.entries(), ([, rank]) => rank, topN).map(([index, rank]) => ({ index, score: scoreOf(rank) }));

/**
 * Describes ranked documents as Jina and Cohere do, in JSON or in JavaScript.
 *
 * @param name name of the field for scores
 */
export const rankedResults = <Score extends string>(
  ranked: readonly RankedDocument[],
  documents: readonly string[],
  name: Score,
  hasDocuments = true,
) =>
  ranked.map(({ index, score }) => ({
    ...({ index, [name]: score } as { index: number } & { [Key in Score]: number }),
    ...(hasDocuments && { document: { text: documents[index] as string } }),
  }));
