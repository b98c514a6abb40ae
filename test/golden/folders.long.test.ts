import { describe, expect, it } from "vitest";
import { edgeEngine } from "#sdk/local/edge-engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { wholeModel } from "#sdk/runtime/start-model.ts";
import { tokenVectorsCall } from "#sdk/runtime/tasks/token-vectors.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import {
  type ColbertCase,
  type GoldenFolder,
  goldenFolders,
  type SentenceCase,
  sentenceCall,
  writeGoldenFolder,
} from "../fixtures/golden-folder.ts";
import { quick } from "../fixtures/preparable.ts";
import { prepared } from "../fixtures/prepared.ts";
import { meanCosine, rowsOf } from "../oracles/mean-cosine.ts";

/** Minimum mean cosine of int8 vectors. A wrong reading of a folder gives less than 0.999. */
const MIN_COSINE = 0.9995;

/** Prepares a case. Returns its models: at the edge, and in a region. */
async function modelsOf(stored: GoldenFolder) {
  const model = await writeGoldenFolder(stored);
  const artifact = await openFolder(
    await prepared({ model, name: "golden", targets: ["edge", "regional-cpu"], ...quick }),
  );
  return Promise.all([wholeModel(artifact, await edgeEngine()), wholeModel(artifact, ortNodeEngine())]);
}

describe("token vectors of both tiers are those of PyLate", () => {
  it.each(goldenFolders<ColbertCase>("colbert.json"))("%s", async (_, { texts, ...stored }) => {
    for (const model of await modelsOf(stored)) {
      for (const [side, key] of [
        ["query", "queries"],
        ["document", "documents"],
      ] as const) {
        const found = await model.call(tokenVectorsCall(texts[key], { truncate: true, side }));
        for (const [i, { vectors, dimensions }] of found.entries()) {
          const expected = rowsOf(stored[key][i] as number[], dimensions);
          expect(meanCosine(rowsOf(vectors, dimensions), expected)).toBeGreaterThan(MIN_COSINE);
        }
      }
      await model.release();
    }
  });
});

describe("vectors of both tiers are those of sentence-transformers", () => {
  it.each(goldenFolders<SentenceCase>("sentences.json"))("%s", async (_, stored) => {
    for (const model of await modelsOf(stored)) {
      const found = await model.call(sentenceCall(stored));
      for (const [i, vector] of found.entries()) {
        expect(meanCosine([vector], [stored.vectors[i] as number[]])).toBeGreaterThan(MIN_COSINE);
      }
      await model.release();
    }
  });
});
