import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import { describeModel, type TaskChoice } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { type Engine, oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";

/** Makes an engine that runs the fused float32 graph of a checkpoint, in place of each model file that it is to load. */
export async function float32Engine(folder: string, choice: TaskChoice = {}): Promise<Engine> {
  const graph = copyGraph((await readTextModel(await describeModel(folder, choice))).graph);
  await fuseGraph(graph);
  const files = oneModel(encodeOnnx(graph));
  const engine = ortNodeEngine();
  return { ...engine, load: () => engine.load(files) };
}
