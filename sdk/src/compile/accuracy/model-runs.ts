import type * as ort from "onnxruntime-node";
import { ortFileSession, toOrt } from "../evaluate/ort-session.ts";
import type { SubprocessOptions } from "../subprocess/run-in-subprocess.ts";
import type { ProbeInputs } from "./probe-inputs.ts";

/** Path of an ONNX file, or its bytes. */
export type RunnableModel = string | Uint8Array<ArrayBuffer>;

/** onnxruntime's own graph optimizations. */
export type OptimizationLevel = "disabled" | "all";

/** One run of a model. */
export interface ModelRun {
  readonly inputs: ProbeInputs;
  readonly outputs: Record<string, ort.Tensor>;
}

interface RunOptions {
  readonly onError?: (error: Error) => void;
  readonly progress?: (fraction: number) => void;
}

/**
 * Runs a model on one thread on each case. A case is a list of alternative inputs, which are tried in order until the model runs. The
 * result of a case is undefined if the model runs on none of the alternatives, for example because all alternatives
 * have more tokens than the model has positions.
 *
 * @param options `onError` receives onnxruntime's error for each alternative that the model does not run on; `progress`
 *   receives the finished share of the cases, from 0 to 1
 * @throws the error of onnxruntime if it cannot load the model
 */
export async function runModel(
  model: RunnableModel,
  graphOptimizationLevel: OptimizationLevel,
  cases: readonly (readonly ProbeInputs[])[],
  { onError = () => {}, progress }: RunOptions = {},
): Promise<(ModelRun | undefined)[]> {
  const session = await ortFileSession(model, { graphOptimizationLevel, logSeverityLevel: 4, intraOpNumThreads: 1 });
  const runs: (ModelRun | undefined)[] = [];
  try {
    for (const alternatives of cases) {
      let run: ModelRun | undefined;
      for (const inputs of alternatives) run ??= await runOn(session, inputs, onError);
      runs.push(run);
      progress?.(runs.length / cases.length);
    }
  } finally {
    await session.release();
  }
  return runs;
}

async function runOn(
  session: ort.InferenceSession,
  inputs: ProbeInputs,
  onError: (error: Error) => void,
): Promise<ModelRun | undefined> {
  const feeds = Object.fromEntries([...inputs].map(([name, value]) => [name, toOrt(value)]));
  const outputs = await session.run(feeds).catch(onError);
  return outputs ? { inputs, outputs: outputs as Record<string, ort.Tensor> } : undefined;
}

/**
 * Subprocess options for comparisons of two models. Comparing models up to 2 GB takes only seconds, so the
 * deadline stops only a comparison that hangs.
 */
export const COMPARISON: SubprocessOptions = {
  failure: "parity_failed",
  what: "The models could not be compared",
  deadlineMs: 10 * 60_000,
};
