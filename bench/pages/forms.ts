import { setTimeout as sleep } from "node:timers/promises";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import { byFrequency } from "#sdk/compile/lower/cut-into-pages.ts";
import { type Encoded, encodeProgram, encodeWithPages } from "#sdk/compile/lower/encode-program.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel, type TextModel } from "#sdk/compile/model/text-model.ts";
import { manifestOf } from "#sdk/compile/stages/assemble-artifact.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import { readModelFile } from "#sdk/runtime/engine/wasm/load/model-file.ts";
import type { LookupPages } from "#sdk/runtime/engine/wasm/ops/lookup.ts";
import { rowOrder } from "#sdk/runtime/engine/wasm/pages/row-order.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import type { ObjectStore } from "#sdk/storage/store.ts";
import { storedArtifact } from "#sdk/storage/stored-artifact.ts";
import { inFourBits } from "../engine/subject.ts";
import { bucketIn } from "../engine/workerd/bucket.ts";
import { memoryOf, type UsedMemory } from "../engine/workerd/memory-in-use.ts";
import { publishEncoded } from "../engine/workerd/publish-form.ts";

/** A model with weights and a token embedding table of 4 bits, which each call expands. */
export interface Forms {
  readonly model: TextModel;
  /** The file with the whole table. */
  readonly whole: Uint8Array<ArrayBuffer>;
  /** The file whose table is cut into pages. */
  readonly paged: Required<Encoded>;
  /** Returns the row of a token in the paged table. */
  readonly rowOf: (id: number) => number;
  /** Numbers of rows of that table. */
  readonly rows: LookupPages;
}

interface FormOptions {
  /** Maximum bytes of weights in memory. Default: two thirds of the whole file. */
  readonly maxMemory: number | undefined;
  /** Texts whose tokens are the frequent ones. */
  readonly calibration: readonly string[];
}

export async function encodeForms(folder: string, { maxMemory, calibration }: FormOptions): Promise<Forms> {
  const model = await readTextModel(await describeModel(folder));
  const fused = copyGraph(model.graph);
  await fuseGraph(fused);
  const graph = await inFourBits(fused, 32);
  const size = { maxTokens: model.maxTokens, vocabulary: model.config.vocabularySize };
  const whole = await encodeProgram(graph, { ...size, maxMemory: 1 });
  const frequent = byFrequency(model.encode(calibration));
  const room = maxMemory ?? (2 / 3) * whole.length;
  const { file, pages } = await encodeWithPages(graph, { ...size, maxMemory: room, frequent: () => frequent });
  if (!pages) throw new Error("The whole table fits into memory.");
  const lookup = readModelFile(file).program.steps.find((step) => step.op === "lookup");
  return {
    ...{ model, whole, paged: { file, pages } },
    ...{ rowOf: rowOrder(frequent), rows: lookup?.pages as LookupPages },
  };
}

/** Loads the whole form. */
export const loadWhole = async ({ whole }: Forms): Promise<EngineSession> =>
  (await engineOnThisMachine("wasm")).load(oneModel(whole));

/** Loads the form with pages, which are in a store that answers each read after `roundTripMs`. */
export async function loadPaged({ model, paged }: Forms, roundTripMs: number): Promise<EngineSession> {
  const store = distant(memoryStore(new Map([[PAGES, paged.pages]])), roundTripMs);
  const { readPart } = storedArtifact(store, {
    manifest: manifestOf(PAGES, model, {}, {}),
    version: "",
    measurements: {},
  });
  const source = { ...oneModel(paged.file), pagesSize: () => paged.pages.length };
  const readPages = (_: unknown, begin: number, end: number) => readPart(PAGES, begin, end);
  return (await engineOnThisMachine("wasm")).load({ ...source, readPages });
}

/** Measures the memory of an isolate in workerd that has answered texts with the form with pages. */
export async function isolateMemory({ model, paged }: Forms, folder: string): Promise<UsedMemory> {
  const store = bucketIn(folder);
  // Nothing is compared, because the weights are random.
  const parity = { cases: 1, meanCosine: 1, minCosine: 1, maxAbsDiff: 0 };
  const target = { engine: "wasm", precision: "int8-edge", parity } as const;
  await publishEncoded({ model, encoded: paged, name: PAGES, ...target }, store);
  return memoryOf({ model: PAGES, source: store.source });
}

const PAGES = "pages";

const distant = (store: ObjectStore, ms: number): ObjectStore => ({
  ...store,
  async open(key, signal, range) {
    await sleep(ms);
    return store.open(key, signal, range);
  },
});
