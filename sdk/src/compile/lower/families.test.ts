import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type ClassifierCase,
  classifierCases,
  classifierIds,
  tokenHeadCases,
  writeClassifier,
} from "#test/fixtures/classifier-case.ts";
import { readHeadedModel } from "#test/fixtures/read-checkpoint.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { type Engine, oneModel } from "../../runtime/engine/engine.ts";
import { headGraph } from "../checkpoint/head-graph.ts";
import type { Head } from "../checkpoint/task-head.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { precisions } from "../quantize/precisions.ts";
import { encodeProgram } from "./encode-program.ts";

/**
 * Largest change of a logit by int8, for the tiny classifiers with random weights that are tested here, where logits are
 * around 1. Where the highest float32 logit leads by more than twice this number, int8 must choose the same label.
 * Measured: at most 0.047.
 */
const INT8_NOISE = 0.06;
/** The same for the logits of tokens. The largest of more logits changes more. Measured: at most 0.238. */
const TOKEN_NOISE = 0.3;

/** Padding of `classifierIds`. */
const PADDING = 1;
const texts = classifierIds.map((row) => Int32Array.from(row.filter((id) => id !== PADDING)));
const VOCABULARY = 40;

/** Cases whose head sizes the engine can rotate. */
const ofFamilies = classifierCases.filter(({ config }) => config["vocab_size"] === VOCABULARY);

const load = async (stored: Pick<ClassifierCase, "config" | "tensors">, head: Head = "sequence-classification") => {
  const folder = join(await temporaryFolder(), "model");
  await writeClassifier(folder, stored);
  return readHeadedModel(folder, head);
};

async function quantized(graph: Graph): Promise<Graph> {
  await fuseGraph(graph);
  return precisions["int8-edge"](graph)();
}

function expectSameLabel(wanted: readonly number[], logits: readonly number[], noise = INT8_NOISE): void {
  const change = Math.max(...wanted.map((value, label) => Math.abs(value - (logits[label] as number))));
  expect(change).toBeLessThan(noise);
  const [first = 0, second = 0] = wanted.toSorted((a, b) => b - a);
  if (first - second > 2 * noise) expect(logits.indexOf(Math.max(...logits))).toBe(wanted.indexOf(first));
}

describe("on the edge engine", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await engineOnThisMachine("wasm");
  });

  const run = async (graph: Graph, vocabulary = VOCABULARY) => {
    const session = await engine.load(oneModel(await encodeProgram(graph, { maxTokens: 14, vocabulary })));
    return session.run(texts);
  };

  it.each(tokenHeadCases)("every token gets the label of float32: $name", async (stored) => {
    const vocabulary = Number(stored.config["vocab_size"]);
    const found = await run(await quantized(headGraph(await load(stored, stored.head))), vocabulary);
    texts.forEach(({ length }, text) => {
      const rows = stored.logits[text]?.slice(0, length) ?? [];
      rows.forEach((wanted, token) => {
        const logits = [...(found[text]?.subarray(token * wanted.length, (token + 1) * wanted.length) ?? [])];
        expectSameLabel(wanted, logits, TOKEN_NOISE);
      });
    });
  });

  it.each(ofFamilies)("the label is that of float32: $name", async (stored) => {
    const graph = await quantized(headGraph(await load(stored)));
    const found = await run(graph);
    for (const [i, wanted] of stored.logits.entries()) {
      expectSameLabel(wanted, [...(found[i] as Float32Array)]);
    }
  });
});
