import type { TaskMethods } from "../serve/contract/javascript.ts";
import { camelCase } from "../serve/contract/javascript.ts";
import type { AnswerResponse } from "../serve/tasks/answer.ts";
import type { EmbedResponse } from "../serve/tasks/embed.ts";
import type { RerankResponse } from "../serve/tasks/rerank.ts";
import type { SparseResponse } from "../serve/tasks/sparse.ts";
import type { TagResponse } from "../serve/tasks/tag.ts";
import type { TokenVectorsResponse } from "../serve/tasks/token-vectors.ts";
import { readVectors } from "./read-vectors.ts";

/** The requests that a method call becomes, and how their answers are read. */
export interface HttpTask {
  /** The list that is split into requests. */
  readonly items: readonly unknown[];
  /** Makes the body of a request, without the options. */
  body(items: readonly unknown[]): object;
  /** Returns a result for each item of a request. @throws an error if the answer is not from bert-edge */
  read(json: never, items: never): readonly unknown[];
  /** Returns the result of the method. */
  result(found: readonly unknown[], options: never): object;
}

/** Returns a task whose items are the `inputs` of the body and whose answer has `results`, unless `others` replaces this. */
const listed = (items: readonly unknown[], others: Partial<HttpTask> = {}): HttpTask => ({
  items,
  body: (inputs) => ({ inputs }),
  read: (json: { results: readonly unknown[] }) => camelCase(json.results),
  result: (results) => ({ results }),
  ...others,
});

type Texts = string | readonly string[];

const listOf = (texts: Texts): readonly string[] => (typeof texts === "string" ? [texts] : texts);
const base64 = (inputs: readonly unknown[]) => ({ inputs, encodingFormat: "base64" });
const embeddings = (embeddings: readonly unknown[]) => ({ embeddings });

/** The tasks, by the names of their methods. Each function takes the arguments that its method takes before the options. */
export const httpTasks: Readonly<Record<keyof TaskMethods, (...args: never[]) => HttpTask>> = {
  embed: (texts: Texts) =>
    listed(listOf(texts), {
      body: base64,
      read(json: EmbedResponse) {
        let dimensions: number | undefined;
        return readVectors(json.embeddings, (length) => {
          dimensions ??= length;
          return length === dimensions;
        });
      },
      result: embeddings,
    }),
  classify: (inputs: unknown) => listed([inputs].flat()),
  zeroShot: (texts: Texts, candidateLabels: readonly string[]) =>
    listed(listOf(texts), { body: (inputs) => ({ inputs, candidateLabels }) }),
  tag: (texts: Texts) =>
    listed(listOf(texts), {
      read: ({ results }: TagResponse, texts: readonly string[]) =>
        results.map((entities, i) => inUtf16(texts[i] ?? "", entities)),
    }),
  answer: (questions: unknown) =>
    listed([questions].flat(), {
      read: ({ results }: AnswerResponse, asked: readonly { context: string }[]) =>
        results.map((found, i) => inUtf16(asked[i]?.context ?? "", found)),
    }),
  fillMask: (texts: Texts) => listed(listOf(texts)),
  similarity: (source: string, texts: readonly string[]) =>
    listed(texts, {
      body: (texts) => ({ source, texts }),
      read: (json: { scores: number[] }) => json.scores,
      result: (scores) => ({ scores }),
    }),
  rerank: (query: string, documents: readonly string[]) =>
    listed(documents, {
      body: (documents) => ({ query, documents }),
      // Keeps the order of the ranks, because documents with equal scores have different ranks.
      read: (json: RerankResponse, documents: readonly string[]) => {
        const results = camelCase(json.results);
        return documents.map((_, rank) => {
          const result = results[rank];
          return result && { ...result, beyondRank: result.index - rank };
        });
      },
      result: (found, { topN }: { topN?: number }) => ({ results: ranked(found as readonly Placed[]).slice(0, topN) }),
    }),
  sparse: (texts: Texts) =>
    listed(listOf(texts), { read: (json: SparseResponse) => json.embeddings, result: embeddings }),
  tokenVectors(texts: Texts) {
    let dimensions = 0;
    return listed(listOf(texts), {
      body: base64,
      read(json: TokenVectorsResponse) {
        dimensions = json.dimensions;
        return readVectors(json.embeddings, (length) => length % dimensions === 0);
      },
      result: (embeddings) => ({ dimensions, embeddings }),
    });
  },
};

/** A ranked document of a request. `beyondRank` is its index in the request minus its rank. */
type Placed = { readonly relevanceScore: number; readonly beyondRank: number } | undefined;

/**
 * Ranks the documents of all requests together. `place` is the number of documents in earlier requests plus the rank, so
 * `place + beyondRank` is the document's index in the caller's list.
 */
const ranked = (found: readonly Placed[]) =>
  found
    .flatMap((result, place) => {
      if (!result) return [];
      const { beyondRank, ...others } = result;
      return [{ ...others, index: place + beyondRank }];
    })
    .sort((a, b) => b.relevanceScore - a.relevanceScore);

/** Returns a function that turns a position in code points, as the service counts, into a UTF-16 index, as `slice` takes it. */
function utf16Positions(text: string): (codePoints: number) => number {
  const starts = [0];
  for (const character of text) starts.push((starts.at(-1) as number) + character.length);
  return (codePoints) => starts[codePoints] as number;
}

/** Converts the positions of parts of a text from code points to UTF-16 indices. */
export function inUtf16<Part extends { start: number; end: number }>(text: string, parts: readonly Part[]): Part[] {
  const position = utf16Positions(text);
  return parts.map((part) => ({ ...part, start: position(part.start), end: position(part.end) }));
}
