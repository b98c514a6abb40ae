import { BertEdgeError } from "../../artifact/error.ts";
import { fromOrt } from "../evaluate/ort-session.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { reportProgress } from "../subprocess/messages.ts";
import { inSubprocess, type SubprocessOptions } from "../subprocess/run-in-subprocess.ts";
import { COMPARISON, type ModelRun, type OptimizationLevel, type RunnableModel, runModel } from "./model-runs.ts";
import { type Arithmetic, arithmeticOf, compareOutputs, inFloat32 } from "./output-tolerance.ts";
import { probeInputs } from "./probe-inputs.ts";

/** Agreement of a rewritten model's outputs with the original's, both without onnxruntime's own optimizations. */
export interface ModelParity {
  /** Largest absolute difference of any output element. */
  readonly maxAbs: number;
  /** Minimum cosine over all outputs. */
  readonly cosine: number;
  /** Number of batches that both models ran on. */
  readonly cases: number;
}

/** Difference between the outputs of two models. */
interface OutputDifference extends Omit<ModelParity, "cases"> {
  /** Largest share of the tolerance that an output uses up. Above 1, the difference exceeds the tolerance. */
  readonly ofTolerance: number;
}

/** A rewritten model compared with its original. */
export interface ModelComparison extends ModelParity, OutputDifference {
  /** Set if onnxruntime's own optimizations change the result's outputs by more than the tolerance. */
  readonly optimizer: OptimizerEffect | undefined;
}

/** Differences that onnxruntime's own graph optimizations make. */
interface OptimizerEffect {
  /** The optimized original, compared with the original. */
  readonly original: OutputDifference;
  /** The optimized result, compared with the original. */
  readonly rewritten: OutputDifference;
  /** The optimized result, compared with the optimized original. */
  readonly served: OutputDifference;
}

/**
 * Runs two ONNX files on the same probe batches and compares their outputs. The first comparison is without onnxruntime's own graph
 * optimizations and shows the effect of the rewrite alone. The second one is with these optimizations, as the models are served.
 *
 * @throws BertEdgeError `parity_impossible` when onnxruntime cannot load or run one of the models
 */
export async function modelParity(original: string, rewritten: string): Promise<ModelComparison> {
  const graph = fromOnnx(await readOnnx(original));
  const [arithmetic, probes] = [arithmeticOf(graph), probeInputs(graph)];
  let failure: Error | undefined;
  const originalRuns = await runOf("original", original, "disabled", probes, {
    onError: (error) => {
      failure ??= error;
    },
    progress: (share) => reportProgress(share / COMPARED_RUNS),
  });
  const expected = originalRuns.filter(isDefined);
  if (expected.length === 0) throw neverRuns(failure);
  const cases = expected.map(({ inputs }) => [inputs]);
  let finished = 1;
  async function run(which: Which, model: RunnableModel, level: OptimizationLevel): Promise<Run[]> {
    const before = finished++;
    const progress = (share: number) => reportProgress(Math.min(1, (before + share) / COMPARED_RUNS));
    return runOf(which, model, level, cases, { progress });
  }
  const compare = (runs: readonly Run[], others: readonly Run[]) =>
    largest(runs.map((each, i) => differenceOf(each, others[i], arithmetic)));
  /** Compares runs with the original's. If a float16 model exceeds the tolerance, compares the errors of both models against float32. */
  const compareWithOriginal = async (runs: readonly Run[]): Promise<OutputDifference> => {
    const difference = compare(expected, runs);
    if (arithmetic !== "float16" || difference.ofTolerance <= 1) return difference;
    const exact = await run("original", encodeOnnx(inFloat32(graph)), "disabled").catch(() => []);
    if (!exact.every(isDefined) || exact.length === 0) return difference;
    const [own, other] = [compare(exact, expected), compare(exact, runs)];
    return { ...difference, ofTolerance: other.maxAbs / (FLOAT16_ERRORS * own.maxAbs) };
  };

  const difference = await compareWithOriginal(await run("rewritten", rewritten, "disabled"));
  const optimized = await run("rewritten", rewritten, "all");
  const effect = await compareWithOriginal(optimized);
  if (effect.ofTolerance <= 1) return { ...difference, cases: cases.length, optimizer: undefined };
  const reference = await run("original", original, "all");
  const optimizer = {
    original: compare(expected, reference),
    rewritten: effect,
    served: compare(reference, optimized),
  };
  return { ...difference, cases: cases.length, optimizer };
}

/**
 * Maximum error of a rewritten float16 model, as a multiple of the original's error. Both errors are differences from the same model
 * in float32. They differ because the models round in a different order. Models with a pooler measure at most 1.6.
 */
const FLOAT16_ERRORS = 2;

/** Number of runs if onnxruntime's optimizations change nothing: the original, the result without optimizations, the result with them. */
const COMPARED_RUNS = 3;

type Which = "original" | "rewritten";
type Run = ModelRun | undefined;

const isDefined = (run: Run): run is ModelRun => run !== undefined;

/** Runs a model. @throws BertEdgeError `parity_impossible` when onnxruntime cannot load it */
const runOf = (which: Which, ...model: Parameters<typeof runModel>): Promise<Run[]> =>
  runModel(...model).catch((cause: Error) => {
    throw new BertEdgeError("parity_impossible", `onnxruntime cannot load the ${which} model: ${cause.message}`, {
      hint:
        which === "original"
          ? "The model is at fault, not its rewrite: export it again, for example with another opset or precision."
          : BUG,
      cause,
    });
  });

/** @throws BertEdgeError `parity_impossible` when only one of the models ran, or when an output is missing */
function differenceOf(expected: Run, found: Run, arithmetic: Arithmetic): OutputDifference {
  if (!expected || !found) {
    throw new BertEdgeError("parity_impossible", "The rewritten model does not run on the inputs of the original.", {
      hint: BUG,
    });
  }
  return largest(
    Object.entries(expected.outputs).map(([name, value]) => {
      const other = found.outputs[name];
      if (other) return compareOutputs(fromOrt(value), fromOrt(other), arithmetic);
      throw new BertEdgeError(
        "parity_impossible",
        `The rewritten model does not compute the output ${name}, but the original does.`,
        { hint: BUG },
      );
    }),
  );
}

const neverRuns = (cause: Error | undefined) =>
  new BertEdgeError(
    "parity_impossible",
    `The original model runs on none of the probe inputs: ${cause?.message ?? "it has no inputs"}`,
    {
      hint:
        "Some exports run only with the batch size and length of their example. Export the model with dynamic sizes, " +
        "or pass --no-parity.",
      cause,
    },
  );

const BUG = "This is a bug in the fusion: report it, if possible with the model.";

const largest = (differences: readonly OutputDifference[]): OutputDifference => ({
  maxAbs: Math.max(0, ...differences.map(({ maxAbs }) => maxAbs)),
  ofTolerance: Math.max(0, ...differences.map(({ ofTolerance }) => ofTolerance)),
  cosine: Math.min(1, ...differences.map(({ cosine }) => cosine)),
});

/**
 * Runs `modelParity` in a subprocess.
 *
 * @throws BertEdgeError `parity_failed`, `aborted`, and the errors of `modelParity`
 */
export const modelParityInSubprocess = (
  original: string,
  rewritten: string,
  options: Pick<SubprocessOptions, "signal" | "onProgress"> = {},
): Promise<ModelComparison> =>
  inSubprocess("compile/accuracy/model-parity", modelParity, { ...COMPARISON, ...options })(original, rewritten);

/**
 * Decides whether a rewritten model may take the original's place. onnxruntime's own optimizations may change the rewritten model's
 * outputs only if both optimized models agree, or if the original's outputs also change by more than the tolerance.
 *
 * @returns warnings about what onnxruntime changes
 * @throws BertEdgeError `parity_exceeded` when the outputs differ from the original's
 */
export function judgeParity({ maxAbs, ofTolerance, cosine, optimizer }: ModelComparison): string[] {
  if (!(ofTolerance <= 1)) {
    throw new BertEdgeError(
      "parity_exceeded",
      `The outputs of the optimized model differ from the original's by up to ${maxAbs} (cosine ${cosine}).`,
      { hint: "Nothing was written. This is a bug in the fusion: report it, if possible with the model." },
    );
  }
  if (!optimizer) return [];
  const { original, rewritten, served } = optimizer;
  if (!(served.ofTolerance <= 1) && original.ofTolerance <= 1) {
    throw new BertEdgeError(
      "parity_exceeded",
      "onnxruntime's own optimizations change the outputs of the optimized model, but not the original's: " +
        `by up to ${rewritten.maxAbs} (cosine ${rewritten.cosine}). Without them, both models agree.`,
      {
        hint:
          "Nothing was written. Report it, if possible with the model. To use the result with onnxruntime's " +
          'graphOptimizationLevel "disabled", run this again with --no-parity.',
      },
    );
  }
  return [
    "onnxruntime's own optimizations change what this model computes: " +
      `the original's outputs by up to ${figure(original.maxAbs)}, the result's by up to ${figure(rewritten.maxAbs)}. ` +
      `Without them, both agree within ${figure(maxAbs)}, so the fusion is not the cause. ` +
      'To avoid the change, run the model with graphOptimizationLevel "disabled".',
  ];
}

const figure = (value: number): string => String(Number(value.toPrecision(2)));
