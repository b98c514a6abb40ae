import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { oneModel } from "#sdk/runtime/engine/engine.ts";

/** Computes the vectors of texts with a checkpoint's own weights, in onnxruntime on the CPU. Default: the probe texts. */
export async function float32Vectors(folder: string, texts = probeTexts): Promise<Float32Array[]> {
  const model = await readTextModel(await describeModel(folder));
  const session = await (await engineOnThisMachine("ort-node")).load(oneModel(encodeOnnx(model.graph)));
  try {
    return await model.compute(session, texts);
  } finally {
    await session.release();
  }
}
