import { join } from "node:path";
import * as ort from "onnxruntime-node";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { writeRandomBert } from "../random-checkpoint.ts";

/** The provider of this machine: CUDA if it can load a model, else the CPU. `why`: the reason why CUDA cannot. */
export async function availableProvider(folder: string): Promise<{ provider: "cuda" | "cpu"; why: string }> {
  const { graph } = await readTextModel(
    await describeModel(await writeRandomBert(join(folder, "probe"), { layers: 1, width: 64 }, "gpu")),
  );
  await fuseGraph(graph);
  try {
    const session = await ort.InferenceSession.create(encodeOnnx(graph), { executionProviders: ["cuda"] });
    await session.release();
    return { provider: "cuda", why: "" };
  } catch (error) {
    const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return { provider: "cpu", why: line.trim() };
  }
}
