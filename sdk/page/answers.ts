/** Where a request was answered. */
export type Place = "edge" | "region" | "browser";

/** A result, and how it was computed. */
export interface Answered<R> {
  readonly result: R;
  readonly place: Place;
  readonly version: string;
  readonly reason?: string | undefined;
  /** In milliseconds; undefined without a prediction. */
  readonly predictedMs?: number | undefined;
  readonly tokens?: number | undefined;
}

export interface Scored {
  readonly label: string;
  readonly score: number;
}

/** A text, or a pair of texts. */
export type Classified = string | readonly [text: string, pair: string];

/** What the page asks a model. The deployment answers, or a model in this browser. */
export interface Answers {
  /** Returns one vector per text. */
  embed(texts: readonly string[], budgetMs?: number): Promise<Answered<readonly Float32Array[]>>;
  /** Returns the labels of each text or pair, best first. */
  classify(inputs: readonly Classified[], budgetMs?: number): Promise<Answered<readonly (readonly Scored[])[]>>;
  /** Returns documents for a query, best first. */
  rerank(query: string, documents: readonly string[], budgetMs?: number): Promise<Answered<readonly Scored[]>>;
}
