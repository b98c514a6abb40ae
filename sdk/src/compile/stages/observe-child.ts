import { readFile } from "node:fs/promises";
import { deserialize } from "node:v8";
import type { Graph } from "../graph/graph.ts";
import { answer } from "../isolate/in-child.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { beyondHalf } from "../quantize/fp16/beyond-half.ts";
import { observedRanges } from "../quantize/static/ranges.ts";
import type { TokenBatch } from "../quantize/token-batches.ts";
import { writeMoments } from "../quantize/weights/moments-file.ts";
import { observeProducts } from "../quantize/weights/observe.ts";
import { inferShapes } from "../shapes/infer.ts";
import { type Observation, type Observations, valuesOf } from "./observe-in-child.ts";

/** Makes the observation named on the command line, of a model on batches; the last file is for what is large. */
const [, , kind, model = "", inputs = "", result = ""] = process.argv;
await answer(observe(kind as Observation));

type Observer<K extends Observation> = (graph: Graph, batches: readonly TokenBatch[]) => Promise<Observations[K]>;

async function observe(kind: Observation): Promise<Observations[Observation]> {
  const observers: { readonly [K in Observation]: Observer<K> } = {
    moments: async (graph, batches) => writeMoments(result, await observeProducts(graph, batches)),
    beyondHalf: async (graph, batches) => [...(await beyondHalf(graph, batches))],
    async ranges(graph, batches) {
      const values = valuesOf(graph);
      const ranges = await observedRanges(graph, batches, { threads: 1 });
      return [...ranges].map(([value, range]) => [values.indexOf(value), range]);
    },
  };
  const graph = fromOnnx(await readOnnx(model));
  inferShapes(graph);
  return observers[kind](graph, deserialize(await readFile(inputs)) as TokenBatch[]);
}
