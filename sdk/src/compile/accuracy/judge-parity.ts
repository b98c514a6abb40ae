import { BertEdgeError } from "../../artifact/error.ts";
import type { ModelComparison } from "./model-parity.ts";

/**
 * Decides whether a rewritten model may take the original's place. onnxruntime's own optimizations may change its outputs
 * if they change the original's in the same way, or as much.
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
