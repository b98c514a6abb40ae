import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type ClassifierCase,
  classifierCases,
  classifierIds,
  writeClassifier,
} from "#test/fixtures/classifier-case.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { type Engine, oneModel } from "../../runtime/engine/engine.ts";
import { classifierGraph } from "../checkpoint/classifier-graph.ts";
import { readClassifier } from "../checkpoint/sequence-classification.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { precisions } from "../quantize/precisions.ts";
import { encodeProgram } from "./write-model-file.ts";

/**
 * Largest change of a logit by int8, for the tiny classifiers with random weights that are tested here, where logits are
 * around 1. Where the highest float32 logit leads by more than twice this number, int8 must choose the same label.
 * Measured: at most 0.047.
 */
const INT8_NOISE = 0.06;

/** Padding of `classifierIds`. */
const PADDING = 1;
const texts = classifierIds.map((row) => Int32Array.from(row.filter((id) => id !== PADDING)));
const VOCABULARY = 40;

/** Cases whose heads the engine can run: it has no mean of the tokens. */
const pooling = (stored: ClassifierCase) => stored.config["classifier_pooling"];
const onFirstToken = (stored: ClassifierCase) => pooling(stored) === undefined || pooling(stored) === "bos";
const ofFamilies = classifierCases.filter(({ config }) => config["vocab_size"] === VOCABULARY);

const load = async (stored: ClassifierCase) => {
  const folder = join(await temporaryFolder(), "model");
  await writeClassifier(folder, stored);
  return readClassifier(folder);
};

async function quantized(graph: Graph): Promise<Graph> {
  await fuseGraph(graph);
  return precisions["int8-edge"](graph)();
}

describe("on the edge engine", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await engineOnThisMachine("wasm");
  });

  const run = async (graph: Graph) => {
    const session = await engine.load(oneModel(await encodeProgram(graph, { maxTokens: 16, vocabulary: VOCABULARY })));
    return session.run(texts);
  };

  it.each(ofFamilies.filter(onFirstToken))("the label is that of float32: $name", async (stored) => {
    const graph = await quantized(classifierGraph(await load(stored)));
    const found = await run(graph);
    for (const [i, wanted] of stored.logits.entries()) {
      const logits = [...(found[i] as Float32Array)];
      const change = Math.max(...wanted.map((value, label) => Math.abs(value - (logits[label] as number))));
      expect(change).toBeLessThan(INT8_NOISE);
      const [first = 0, second = 0] = wanted.toSorted((a, b) => b - a);
      if (first - second > 2 * INT8_NOISE) {
        expect(logits.indexOf(Math.max(...logits))).toBe(wanted.indexOf(first));
      }
    }
  });
});
