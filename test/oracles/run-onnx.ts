import type * as ort from "onnxruntime-node";
import { ortFileSession } from "#sdk/compile/evaluate/ort-session.ts";

/** Runs a model file on `feeds` with onnxruntime's native build. */
export async function runOnnx(
  model: Uint8Array<ArrayBuffer>,
  feeds: Readonly<Record<string, ort.Tensor>>,
): Promise<Record<string, ort.Tensor>> {
  const session = await ortFileSession(model, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  try {
    return (await session.run(feeds)) as Record<string, ort.Tensor>;
  } finally {
    await session.release();
  }
}
