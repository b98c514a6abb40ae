import { onnxruntimeNode } from "../../runtime/engine/ort-node/onnxruntime-node.ts";
import { judgeParity, type ModelParity } from "../accuracy/model-parity.ts";
import type { ModelInput } from "../files/folders.ts";
import { assertWritable, withOutputFile } from "../files/output-file.ts";
import type { ExcusedParts } from "../fusions/unfused-parts.ts";
import type { UnfusedReason } from "../rewrite/trace.ts";
import { compareFiles } from "../stages/check.ts";
import { fuse } from "../stages/fuse.ts";
import { type HubSource, locateModel } from "../stages/locate-model.ts";
import { readSource } from "../stages/read.ts";
import { type RunOptions, type StageReport, startRun } from "../stages/stage.ts";
import { writeModel } from "../stages/write.ts";

export interface OptimizeOptions extends RunOptions {
  /**
   * An ONNX file (its path or its bytes), a Hugging Face model folder (its path or its files), or a model of the Hugging
   * Face Hub: `organization/model`, `organization/model@revision` or the address of its page.
   */
  model: ModelInput;
  /** Unknown keys of modules' configurations that are not refused, such as `1_Pooling.some_key`. */
  acceptKeys?: readonly string[] | undefined;
  /**
   * Path of the file to write. An existing file is replaced. Without a path, the report has the bytes of the result.
   */
  out?: string | undefined;
  /** Write the result even if it is not fused completely. Default false. */
  allowPartial?: boolean;
  /** Run the original and the result on generated inputs, and refuse a result whose outputs differ. Default true. */
  checkParity?: boolean;
}

export interface OptimizeReport {
  /** Where the model was downloaded from; undefined for a local model. */
  readonly source: HubSource | undefined;
  /** Names of unknown keys of the folder's modules that were accepted. */
  readonly acceptedKeys: readonly string[];
  readonly nodes: { readonly before: number; readonly after: number };
  /** Number of nodes for each fused operator, by operator name. */
  readonly fused: Readonly<Record<string, number>>;
  /** Whether every attention, layer normalization and known activation is fused, or excused. */
  readonly complete: boolean;
  /** Why parts of the graph are not fused. */
  readonly reasons: readonly UnfusedReason[];
  /** Parts that are not fused because onnxruntime has no operator for them. */
  readonly excused: readonly ExcusedParts[];
  readonly parity: ModelParity | undefined;
  /** Warnings about the result, as sentences. */
  readonly warnings: readonly string[];
  /** Seconds for reading, fusing and writing. */
  readonly seconds: number;
  /** Largest resident set size of this process until the result was written, in MB. */
  readonly peakRssMB: number;
  readonly stages: readonly StageReport[];
}

/** A report with the optimized model. `optimize` returns it if `out` is not set. */
export interface OptimizedModel extends OptimizeReport {
  /** Bytes of the ONNX file; undefined when fusion is incomplete and `allowPartial` is not set. */
  readonly model: Uint8Array<ArrayBuffer> | undefined;
}

/**
 * Fuses a model: read → fuse → write → check. The file at `out` is replaced only if the result agrees with the
 * original. The result must also be fused completely, unless `allowPartial` is set.
 *
 * @throws BertEdgeError `out_unwritable` when the result cannot be written; `package_missing`; `parity_exceeded` when the result's outputs
 *   differ from the original's; `parity_failed`, `parity_impossible` when the outputs cannot be compared; `aborted`;
 *   and the errors of `locateModel` and `readModelSource`
 */
export function optimize(options: OptimizeOptions & { out: string }): Promise<OptimizeReport>;
export function optimize(options: OptimizeOptions & { out?: undefined }): Promise<OptimizedModel>;
export function optimize(options: OptimizeOptions): Promise<OptimizeReport | OptimizedModel>;
export async function optimize(options: OptimizeOptions): Promise<OptimizeReport | OptimizedModel> {
  const { out, allowPartial = false, checkParity = true } = options;
  const start = performance.now();
  await assertWritable(out);
  await onnxruntimeNode();
  return withOutputFile(out, async ({ path, folder, publish }) => {
    const { run, reports: stages } = startRun(options, folder);
    const { path: original, source: hub } = await locateModel(run, options.model, folder);
    const source = await run(readSource, { path: original, acceptKeys: options.acceptKeys });
    const { graph, nodes, fused, reasons, excused } = await run(fuse, { graph: source.graph });
    await run(writeModel, { path, graph, envelope: source.envelope });
    const seconds = (performance.now() - start) / 1000;
    const peakRssMB = process.resourceUsage().maxRSS / 1024;

    const compared = checkParity ? await run(compareFiles, { source, rewritten: path }) : undefined;
    const warnings = compared ? judgeParity(compared) : [];
    const complete = reasons.length === 0;
    const model = complete || allowPartial ? await publish() : undefined;

    const parity = compared && { maxAbs: compared.maxAbs, cosine: compared.cosine, cases: compared.cases };
    const report = {
      source: hub,
      acceptedKeys: source.acceptedKeys,
      nodes,
      fused,
      complete,
      reasons,
      excused,
      parity,
      warnings,
      seconds,
      peakRssMB,
      stages,
    };
    return out === undefined ? { ...report, model } : report;
  });
}
