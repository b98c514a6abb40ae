import { tmpdir } from "node:os";
import { probesOf } from "#sdk/compile/accuracy/probes.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { inputsOf } from "#sdk/compile/model/run-task.ts";
import type { TextModel } from "#sdk/compile/model/text-model.ts";
import type { EdgeForms, EdgeQuantizers } from "#sdk/compile/quantize/precisions.ts";
import { fitSize } from "#sdk/compile/stages/fit-size.ts";
import { startRun } from "#sdk/compile/stages/stage.ts";
import { load, modelFile } from "./load.ts";
import type { Row } from "./rows.ts";

/** Chooses which weights have 4 bits in a model file of at most `maxSize` bytes, as `prepare --max-size` does. */
export async function formsForSize(
  model: TextModel,
  fused: Graph,
  quantizers: EdgeQuantizers,
  maxSize: number,
): Promise<EdgeForms> {
  const probes = probesOf(model);
  const computed = async (engine: Row["engine"], graph: Graph) => {
    const { compute, release } = await load(engine, model, graph);
    try {
      return await compute(inputsOf(model.task, probes.texts));
    } finally {
      await release();
    }
  };
  const reference = await computed("onnxruntime", fused);
  return startRun({}, tmpdir()).run(fitSize, {
    ...{ quantizers, maxSize },
    parity: async (graph) => probes.compare(reference, await computed("edge", graph)),
    sizeOf: async (graph) => (await modelFile(model, graph)).length,
  });
}
