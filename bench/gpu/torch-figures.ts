import { join } from "node:path";
import type { BertSize } from "../random-checkpoint.ts";
import { isRun, runTool } from "../run-tool.ts";

/** Times of PyTorch's compiler with CUDA graphs, in ms. */
export interface TorchFigures {
  readonly oneMs: number;
  readonly batchMs: number;
}

/** Measures a model of the same size in PyTorch. Returns why not if python3 has no PyTorch with CUDA. */
export async function torchFigures({ layers, width }: BertSize): Promise<TorchFigures | string> {
  const script = join(import.meta.dirname, "torch_figures.py");
  const outcome = await runTool(["python3", "-B", script], [`${layers}`, `${width}`]);
  return isRun(outcome) ? outcome.report : outcome.failure;
}
