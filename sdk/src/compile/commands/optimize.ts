import { BertEdgeError } from "../../artifact/error.ts";
import { type ModelParity, modelParityInSubprocess } from "../accuracy/model-parity.ts";
import { assertWritable, replaceFile } from "../files/replace-file.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import { countFused } from "../fusions/fused-operators.ts";
import { unfusedParts } from "../fusions/unfused-parts.ts";
import { readModelSource } from "../model/model-source.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import type { UnfusedReason } from "../rewrite/trace.ts";

export interface OptimizeOptions {
  /** An ONNX file, or a Hugging Face model folder with config.json and model.safetensors. */
  source: string;
  /** The file to write; an earlier one is replaced. */
  out: string;
  /** Write the result even if it is not complete. Default false. */
  allowPartial?: boolean;
  /** Run original and result on probe batches and refuse when they differ. Default true. */
  checkParity?: boolean;
  /** Called as each stage begins. */
  onStage?: (stage: string) => void;
}

export interface OptimizeReport {
  nodes: { before: number; after: number };
  /** Fused operators by name, those with none left out. */
  fused: Record<string, number>;
  /** Whether no attention, layer normalization or activation of the known forms is left written out. */
  complete: boolean;
  reasons: UnfusedReason[];
  parity: Omit<ModelParity, "ofTolerance"> | undefined;
  /** Of reading, rewriting and writing. */
  seconds: number;
  /** Largest resident set of this process so far. */
  peakRssMB: number;
}

/**
 * Rewrites a model into fused operators: read → rewrite → write → compare. The result takes its place only when it
 * agrees with the original, and is complete or may be partial.
 *
 * @throws BertEdgeError as `readModelSource` when the model cannot be used, `out_unwritable` when the result cannot be
 *   written, `parity_exceeded` when the results differ, `parity_failed` or `parity_impossible` when they cannot be compared
 */
export async function optimize(options: OptimizeOptions): Promise<OptimizeReport> {
  const { source, out, allowPartial = false, checkParity = true, onStage = () => {} } = options;
  const start = performance.now();
  await assertWritable(out);
  onStage(`read ${source}`);
  const { graph, envelope, writeOriginal } = await readModelSource(source);
  const before = graph.nodes.size;

  onStage("fuse");
  const trace = await fuseGraph(graph);
  const reasons = unfusedParts(graph, trace);
  const complete = reasons.length === 0;

  onStage(`write ${out}`);
  return replaceFile(out, async ({ path, folder, publish }) => {
    await writeOnnx(path, graph, envelope);
    const seconds = (performance.now() - start) / 1000;
    const peakRssMB = process.resourceUsage().maxRSS / 1024;

    if (checkParity) onStage("compare with the original");
    const parity = checkParity ? await modelParityInSubprocess(await writeOriginal(folder), path) : undefined;
    if (parity && !(parity.ofTolerance <= 1)) throw exceeded(parity);

    if (complete || allowPartial) await publish();
    return {
      nodes: { before, after: graph.nodes.size },
      fused: countFused(graph),
      complete,
      reasons,
      parity: parity && { maxAbs: parity.maxAbs, cosine: parity.cosine, cases: parity.cases },
      seconds,
      peakRssMB,
    };
  });
}

const exceeded = ({ maxAbs, cosine }: ModelParity) =>
  new BertEdgeError(
    "parity_exceeded",
    `The rewritten model differs from the original by up to ${maxAbs} (cosine ${cosine}).`,
    {
      hint: "Nothing was written. Please report it, with the model if you can.",
    },
  );
