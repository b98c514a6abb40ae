import { BertEdgeError } from "../../artifact/error.ts";
import { onnxruntimeNode } from "../../runtime/engine/ort-node/onnxruntime-node.ts";
import { fromOrt } from "../evaluate/ort-tensor.ts";
import { numbersOf } from "../graph/tensor.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { inSubprocess } from "../subprocess/run-in-subprocess.ts";
import { compareNumbers, type Tolerance } from "./compare-numbers.ts";
import { COMPARISON } from "./comparison.ts";
import { probeInputs } from "./probe-inputs.ts";
import { runFirst } from "./run-first.ts";

/** Agreement of a rewritten model's outputs with the original's. */
export interface ModelParity {
  /** Largest absolute difference of any output element. */
  readonly maxAbs: number;
  /** Largest ratio of an element's difference to its tolerance. Above 1, the difference exceeds the tolerance. */
  readonly ofTolerance: number;
  /** Minimum cosine over all outputs. */
  readonly cosine: number;
  /** Number of batches that both models ran on. */
  readonly cases: number;
}

/**
 * Tolerances by output type. A different order of additions changes a float32 sum by about 1e-6 of the size of its
 * terms, and these differences add up over the layers. float16 has 11 significant bits. An unfused model rounds after
 * every operator, and loses two or three of these bits.
 */
const tolerances: Readonly<Record<string, Tolerance>> = {
  float32: { absolute: 1e-4, relative: 1e-4 },
  float16: { absolute: 1e-2, relative: 1e-2 },
};
/** Tolerance for integers and booleans. They must be equal. */
const EXACT: Tolerance = { absolute: 0.5, relative: 0 };

/**
 * Runs two ONNX files on the same probe batches: the original without graph optimizations, the rewritten one with them.
 *
 * @throws BertEdgeError `parity_impossible` when the original runs on none of the batches
 */
export async function modelParity(original: string, rewritten: string): Promise<ModelParity> {
  const { InferenceSession } = await onnxruntimeNode();
  const cases = probeInputs(fromOnnx(await readOnnx(original)));
  const options = { logSeverityLevel: 4, intraOpNumThreads: 1 } as const;
  const reference = await InferenceSession.create(original, { ...options, graphOptimizationLevel: "disabled" });
  const expected = await runFirst(reference, cases);
  const session = await InferenceSession.create(rewritten, options);
  const found = await runFirst(
    session,
    expected.map((run) => (run ? [run.inputs] : [])),
  );
  let [maxAbs, ofTolerance, cosine, compared] = [0, 0, 1, 0];
  for (const [i, run] of expected.entries()) {
    if (!run) continue;
    compared++;
    for (const [name, value] of Object.entries(run.outputs)) {
      const other = found[i]?.outputs[name];
      if (!other)
        throw new BertEdgeError(
          "parity_impossible",
          `The rewritten model does not compute the output ${name}, but the original does.`,
          { hint: "This is a bug in the fusion: report it, if possible with the model." },
        );
      const [a, b] = [numbersOf(fromOrt(value)), numbersOf(fromOrt(other))];
      const difference = compareNumbers(a, b, tolerances[value.type] ?? EXACT);
      maxAbs = Math.max(maxAbs, difference.maxAbs);
      ofTolerance = Math.max(ofTolerance, difference.ofTolerance);
      cosine = Math.min(cosine, difference.cosine);
    }
  }
  if (compared === 0) {
    throw new BertEdgeError("parity_impossible", "The original model does not run on any of the probe inputs.", {
      hint: "Check that the model runs in onnxruntime.",
    });
  }
  return { maxAbs, ofTolerance, cosine, cases: compared };
}

/**
 * Runs `modelParity` in a subprocess.
 *
 * @throws BertEdgeError `parity_failed`, `aborted`, and the errors of `modelParity`
 */
export const modelParityInSubprocess = (
  original: string,
  rewritten: string,
  signal?: AbortSignal,
): Promise<ModelParity> => inSubprocess(import.meta.url, modelParity, { ...COMPARISON, signal })(original, rewritten);
