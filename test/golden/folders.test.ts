import { describe, expect, it } from "vitest";
import { embedCall } from "#sdk/runtime/tasks/embed-call.ts";
import { tokenVectorsCall } from "#sdk/runtime/tasks/token-vectors-call.ts";
import { float32Model } from "../fixtures/float32-model.ts";
import { type GoldenFolder, goldenFolders, writeGoldenFolder } from "../fixtures/golden-folder.ts";
import { maxSim } from "../oracles/max-sim.ts";

/** Maximum difference of a number in float32. The files store seven decimals, and torch adds in another order. */
const TOLERANCE = 1e-5;
/** Maximum difference of a score, which adds up to 16 cosines. */
const SCORE_TOLERANCE = 1e-4;

const largest = (a: ArrayLike<number>, b: readonly number[]) => {
  expect(a.length).toBe(b.length);
  return Math.max(...b.map((value, i) => Math.abs(value - (a[i] as number))));
};

interface ColbertCase extends GoldenFolder {
  readonly texts: { readonly queries: string[]; readonly documents: string[] };
  readonly queries: number[][];
  readonly documents: number[][];
  readonly scores: number[][];
}

describe("token vectors in float32 are those of PyLate", () => {
  it.each(goldenFolders<ColbertCase>("colbert.json"))("%s", async (_, { texts, scores, ...stored }) => {
    const { call } = await float32Model(await writeGoldenFolder(stored));
    const options = { truncate: true };
    const queries = await call(tokenVectorsCall(texts.queries, { ...options, side: "query" }));
    const documents = await call(tokenVectorsCall(texts.documents, { ...options, side: "document" }));
    for (const [i, { vectors }] of queries.entries()) {
      expect(largest(vectors, stored.queries[i] as number[])).toBeLessThan(TOLERANCE);
    }
    for (const [i, { vectors }] of documents.entries()) {
      expect(largest(vectors, stored.documents[i] as number[])).toBeLessThan(TOLERANCE);
    }
    for (const [i, query] of queries.entries()) {
      const found = documents.map((document) => maxSim(query, document));
      expect(largest(found, scores[i] as number[])).toBeLessThan(SCORE_TOLERANCE);
    }
    expect(await call(tokenVectorsCall(texts.documents, options))).toEqual(documents);
  });
});

interface SentenceCase extends GoldenFolder {
  readonly texts: string[];
  readonly prompt: string | null;
  readonly search: "query" | "document" | null;
  readonly vectors: number[][];
}

describe("vectors in float32 are those of sentence-transformers", () => {
  it.each(goldenFolders<SentenceCase>("sentences.json"))("%s", async (_, { texts, vectors, ...stored }) => {
    const { call } = await float32Model(await writeGoldenFolder(stored));
    const [prompt, search] = [stored.prompt ?? undefined, stored.search ?? undefined];
    const found = await call(embedCall(texts, { truncate: true, prompt, search }));
    for (const [i, vector] of found.entries()) expect(largest(vector, vectors[i] as number[])).toBeLessThan(TOLERANCE);
  });
});
