import { rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { serialize } from "node:v8";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { type Errand, inChild } from "../isolate/in-child.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import type { ObservedRange } from "../quantize/static/ranges.ts";
import type { TokenBatch } from "../quantize/token-batches.ts";
import { momentsIn, type StoredMoments } from "../quantize/weights/moments-file.ts";
import type { Calibration } from "../quantize/weights/weights.ts";

/** What can be observed, and how a child answers. */
export interface Observations {
  readonly moments: StoredMoments[];
  /** Names of nodes. */
  readonly beyondHalf: string[];
  /** By position in `valuesOf`. */
  readonly ranges: (readonly [value: number, range: ObservedRange])[];
}
export type Observation = keyof Observations;

/** A graph's inputs and results, in an order that it keeps when it is written and read. */
export const valuesOf = (graph: Graph): (Value | undefined)[] => [
  ...graph.inputs,
  ...graph.sorted().flatMap(({ outputs }) => outputs),
];

/** `observeProducts`, `observedRanges` and `beyondHalf`, of one graph on some batches. */
export interface Observer {
  /** @returns moments in a file of the folder, to be used as long as that is there */
  moments(): Promise<Calibration>;
  ranges(): Promise<ReadonlyMap<Value, ObservedRange>>;
  beyondHalf(): Promise<ReadonlySet<string>>;
}

/**
 * Observes in processes of their own, because a session takes several times the model's size.
 *
 * @param folder for files
 * @throws BertEdgeError (its methods) `calibration_failed`, or what the functions throw
 */
export function observerOf(graph: Graph, batches: readonly TokenBatch[], folder: string): Observer {
  const moments = join(folder, "moments");
  const observe = async <K extends Observation>(kind: K): Promise<Observations[K]> => {
    const [model, inputs] = [join(folder, "observed.onnx"), join(folder, "observed.inputs")];
    await writeOnnx(model, graph);
    await writeFile(inputs, serialize(batches));
    const found = await inChild<Observations[K]>(script, [kind, model, inputs, moments], OBSERVATION);
    for (const path of [model, `${model}.data`, inputs]) await rm(path, { force: true });
    return found;
  };
  return {
    moments: async () => momentsIn(moments, await observe("moments")),
    beyondHalf: async () => new Set(await observe("beyondHalf")),
    async ranges() {
      const values = valuesOf(graph);
      return new Map((await observe("ranges")).map(([at, range]) => [values[at] as Value, range]));
    },
  };
}

const script = new URL(`./observe-child${extname(import.meta.url)}`, import.meta.url);

/** Large models take minutes for some hundred texts, and there may be many more. */
const OBSERVATION: Errand = {
  failure: "calibration_failed",
  what: "Activations could not be observed",
  deadlineMs: 24 * 60 * 60_000,
};
