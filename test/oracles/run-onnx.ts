import * as ort from "onnxruntime-node";

/** Runs a model file on `feeds` with onnxruntime's native build. */
export async function runOnnx(
  model: Uint8Array,
  feeds: Readonly<Record<string, ort.Tensor>>,
): Promise<Record<string, ort.Tensor>> {
  const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  try {
    return (await session.run(feeds)) as Record<string, ort.Tensor>;
  } finally {
    await session.release();
  }
}
