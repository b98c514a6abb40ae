import { describe, expect, it } from "vitest";
import { tokenVectorsCall } from "#sdk/runtime/tasks/token-vectors.ts";
import { edgeModel } from "../fixtures/edge-model.ts";
import { float32Model } from "../fixtures/float32-model.ts";
import {
  type ColbertCase,
  goldenFolders,
  type SentenceCase,
  sentenceCall,
  writeGoldenFolder,
} from "../fixtures/golden-folder.ts";
import { maxSim } from "../oracles/max-sim.ts";
import { meanCosine, rowsOf } from "../oracles/mean-cosine.ts";

/** Maximum difference of a number in float32. The files store seven decimals, and torch adds in another order. */
const TOLERANCE = 1e-5;
/** Maximum difference of a score, which adds up to 16 cosines. */
const SCORE_TOLERANCE = 1e-4;

/** Minimum mean cosine of vectors in int8. A wrong reading of a folder gives less than 0.999. */
const EDGE_COSINE = 0.9999;
/**
 * The same for vectors of tokens. Rounding weights to 7 bits takes 0.0001 of it, each layer about as much, and no mean over tokens
 * takes the errors away.
 */
const EDGE_TOKEN_COSINE = 0.9997;

const largest = (a: ArrayLike<number>, b: readonly number[]) => {
  expect(a.length).toBe(b.length);
  return Math.max(...b.map((value, i) => Math.abs(value - (a[i] as number))));
};

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

describe("vectors in float32 are those of sentence-transformers", () => {
  it.each(goldenFolders<SentenceCase>("sentences.json"))("%s", async (_, stored) => {
    const { call } = await float32Model(await writeGoldenFolder(stored));
    const found = await call(sentenceCall(stored));
    for (const [i, vector] of found.entries())
      expect(largest(vector, stored.vectors[i] as number[])).toBeLessThan(TOLERANCE);
  });
});

describe("at the edge, vectors in int8 are near those of the libraries", () => {
  it.each(goldenFolders<ColbertCase>("colbert.json"))("of tokens: %s", async (_, { texts, ...stored }) => {
    const model = await edgeModel(await writeGoldenFolder(stored));
    for (const [side, key] of [
      ["query", "queries"],
      ["document", "documents"],
    ] as const) {
      const found = await model.call(tokenVectorsCall(texts[key], { truncate: true, side }));
      const [ours, theirs] = [found.map(({ vectors }) => vectors), stored[key]].map((each) =>
        each.flatMap((vectors) => rowsOf(vectors, found[0]?.dimensions ?? 0)),
      );
      expect(meanCosine(ours ?? [], theirs ?? [])).toBeGreaterThan(EDGE_TOKEN_COSINE);
    }
    await model.release();
  });

  it.each(goldenFolders<SentenceCase>("sentences.json"))("of texts: %s", async (_, stored) => {
    const model = await edgeModel(await writeGoldenFolder(stored));
    const found = await model.call(sentenceCall(stored));
    expect(meanCosine(found, stored.vectors)).toBeGreaterThan(EDGE_COSINE);
    await model.release();
  });
});
