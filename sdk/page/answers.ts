/** Where a call was answered; `mixed` if its requests were answered in several places. */
export type Place = "edge" | "region" | "mixed" | "browser";

/** Milliseconds, or `none`; undefined for the deployment's default. */
export type Budget = number | "none" | undefined;

/** A result, and how it was computed. */
export interface Answered<R> {
  readonly result: R;
  readonly place: Place;
  readonly version: string;
  readonly reason?: string | undefined;
  /** In milliseconds; undefined without a prediction. */
  readonly predictedMs?: number | undefined;
  readonly tokens?: number | undefined;
  /** The figures behind the decision, as the deployment sends them. */
  readonly decision?: string | undefined;
}

export interface Scored {
  readonly label: string;
  readonly score: number;
}

/** Returns the cosine of the angle between two vectors; 0 if one of them is zero. */
export function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
}

/** A text, or a pair of texts. */
export type Classified = string | readonly [text: string, pair: string];

/** The questions of the page to a model. The deployment answers, in requests of up to `batchSize` texts, or a model in this browser. */
export interface Answers {
  /** Returns one vector per text. */
  embed(texts: readonly string[], budget?: Budget, batchSize?: number): Promise<Answered<readonly Float32Array[]>>;
  /** Returns the labels of each text or pair, best first. */
  classify(inputs: readonly Classified[], budget?: Budget): Promise<Answered<readonly (readonly Scored[])[]>>;
  /** Returns documents for a query, best first. */
  rerank(
    query: string,
    documents: readonly string[],
    budget?: Budget,
    batchSize?: number,
  ): Promise<Answered<readonly Scored[]>>;
}

/** Returns a text or a pair as the methods of the package take it. */
export const classifyInput = (input: Classified) =>
  typeof input === "string" ? input : { text: input[0], textPair: input[1] };

/** Labels ranked documents with their texts. */
export const scoredDocuments = (
  ranked: readonly { readonly index: number; readonly relevanceScore: number }[],
  documents: readonly string[],
): Scored[] => ranked.map(({ index, relevanceScore }) => ({ label: documents[index] ?? "", score: relevanceScore }));
