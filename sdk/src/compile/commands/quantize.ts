import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Parity } from "../../artifact/manifest.ts";
import { onnxruntimeNode } from "../../runtime/engine/ort-node/onnxruntime-node.ts";
import type { Candidate } from "../accuracy/choose-precision.ts";
import { FP16_LIMIT, INT8_LIMIT, type Limit, RANDOM_TOKENS_LIMIT, STATIC_LIMIT } from "../accuracy/limits.ts";
import { modelAgreementInSubprocess } from "../accuracy/model-agreement.ts";
import { tableRows } from "../accuracy/probe-inputs.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { readTokenizer } from "../checkpoint/model-folder.ts";
import { transformerFolder } from "../checkpoint/model-place.ts";
import { fixedSizes } from "../evaluate/token-batches.ts";
import { type ModelInput, modelPath } from "../files/folders.ts";
import { assertWritable, withOutputFile } from "../files/output-file.ts";
import type { Graph } from "../graph/graph.ts";
import { inputWithRole } from "../graph/input-role.ts";
import { byteLength } from "../graph/tensor.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { calibrationTexts } from "../quantize/calibration/calibration-texts.ts";
import { checkWeights } from "../stages/check.ts";
import { fuse } from "../stages/fuse.ts";
import { type HubSource, locateModel } from "../stages/locate-model.ts";
import { measure } from "../stages/measure.ts";
import { observe } from "../stages/observe.ts";
import {
  assertCalibratable,
  observationsFor,
  type QuantizeChoice,
  type QuantizeMode,
  quantizeInMode,
} from "../stages/quantize.ts";
import { readSource, readTexts } from "../stages/read.ts";
import { type RunOptions, type StageReport, startRun } from "../stages/stage.ts";
import { writeModel } from "../stages/write.ts";

export interface QuantizeOptions extends QuantizeChoice, RunOptions {
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
  /**
   * Folder with the model's tokenizer.json, or the files of that folder. Default: the model folder, if it has a
   * tokenizer.json. Without a tokenizer, no activations are observed, and the comparison runs on random tokens.
   */
  tokenizer?: string | ReadonlyMap<string, Uint8Array> | undefined;
  /** Texts on which activations are observed. Default: texts of this package. */
  calibration?: readonly string[] | undefined;
  /** Compare original and result, and refuse a result that differs too much. Default true. */
  checkParity?: boolean;
}

export interface QuantizeReport {
  /** Where the model was downloaded from; undefined for a local model. */
  readonly source: HubSource | undefined;
  /** Names of unknown keys of the folder's modules that were accepted. */
  readonly acceptedKeys: readonly string[];
  readonly mode: QuantizeMode;
  readonly nodes: { readonly before: number; readonly after: number };
  /** Size of all weights in bytes. */
  readonly bytes: { readonly before: number; readonly after: number };
  /** Method by which int8-static chose the activation ranges; undefined in other modes. */
  readonly ranges: string | undefined;
  /** Names of nodes that stay in a higher precision, because quantizing these nodes costs too much accuracy. */
  readonly kept: readonly string[];
  readonly parity: Parity | undefined;
  /**
   * Seconds until the first result was written. If this result is not accurate enough, later attempts are not counted.
   */
  readonly seconds: number;
  /** Largest resident set size of this process until the first result was written, in MB. */
  readonly peakRssMB: number;
  readonly stages: readonly StageReport[];
}

/** A report with the quantized model. `quantize` returns it if `out` is not set. */
export interface QuantizedModel extends QuantizeReport {
  /** The bytes of the ONNX file. */
  readonly model: Uint8Array<ArrayBuffer>;
}

/**
 * Fuses and quantizes a model: read → check → fuse → observe → quantize → measure → write. The file at `out` is
 * replaced only if the result is close enough to the original.
 *
 * A model that already has int8 weights keeps them and their scales. In int8-static mode, the model is not fused,
 * because this mode is for runtimes that support only standard operators.
 *
 * @throws BertEdgeError `out_unwritable`; `package_missing`; `weights_invalid`; `file_changed` when the model's file changes while the
 *   command runs; `texts_not_encoded`, `calibration_missing`, `inputs_unknown`, `calibration_invalid`,
 *   `calibration_failed` or `quantize_opset` when the model cannot be calibrated; `model_constant` when all texts have
 *   the same result; `nothing_to_quantize`; `accuracy_gate` when the result is not close enough; `parity_failed` or
 *   `parity_impossible` when the outputs cannot be compared; `aborted`; and the errors of `readModelSource`
 */
export function quantize(options: QuantizeOptions & { out: string }): Promise<QuantizeReport>;
export function quantize(options: QuantizeOptions & { out?: undefined }): Promise<QuantizedModel>;
export function quantize(options: QuantizeOptions): Promise<QuantizeReport | QuantizedModel>;
export async function quantize(options: QuantizeOptions): Promise<QuantizeReport | QuantizedModel> {
  const { mode, out, calibration = calibrationTexts, checkParity = true } = options;
  const start = performance.now();
  await assertWritable(out);
  await onnxruntimeNode();
  return withOutputFile(out, async ({ path, folder, publish }) => {
    const { run, reports: stages } = startRun(options, folder);
    const { path: model, source: hub } = await locateModel(run, options.model, folder);
    const tokenizer = await tokenizerPath(options.tokenizer, model, folder);
    assertCalibratable(mode, tokenizer);
    const source = await run(readSource, { path: model, acceptKeys: options.acceptKeys });
    await run(checkWeights, { graph: source.graph, path: source.path });
    const fused = mode !== "int8-static" && (await run(fuse, { graph: source.graph, keepIntegers: true }));
    const graph = fused ? fused.graph : source.graph;

    const texts = [...calibration, ...probeTexts];
    const ids =
      tokenizer === undefined
        ? undefined
        : await run(readTexts, {
            ...{ tokenizer, texts },
            vocabulary: vocabularyOf(source.graph),
            maxTokens: fixedSizes(source.graph).tokens,
          });
    const wanted = observationsFor(mode, graph, ids?.slice(0, calibration.length));
    const observed = wanted && (await run(observe, wanted));
    const quantized = await run(quantizeInMode, { ...options, graph, observed });

    let first: WriteCost | undefined;
    async function parity(candidate: Graph, onProgress?: (fraction: number) => void): Promise<Parity> {
      await writeOnnx(path, candidate, source.envelope);
      first ??= costSince(start);
      const original = await source.writeOriginal(folder);
      return modelAgreementInSubprocess(original, path, ids?.slice(calibration.length), {
        signal: options.signal,
        onProgress,
      });
    }
    const limit = ids || mode === "fp16" ? limits[mode] : RANDOM_TOKENS_LIMIT;
    const choice = checkParity
      ? await run(measure(), { what: `${source.path} in ${mode}`, quantized, limit, measures: { parity } })
      : await unmeasured(quantized.candidates);
    await run(writeModel, { path, graph: choice.graph, envelope: source.envelope });
    const written = await publish();

    const report: QuantizeReport = {
      source: hub,
      acceptedKeys: source.acceptedKeys,
      mode,
      nodes: { before: source.graph.nodes.size, after: choice.graph.nodes.size },
      bytes: { before: weightBytes(source.graph), after: weightBytes(choice.graph) },
      ranges: mode === "int8-static" ? choice.label : undefined,
      kept: choice.kept,
      parity: choice.measured?.parity,
      ...(first ?? costSince(start)),
      stages,
    };
    return written ? { ...report, model: written } : report;
  });
}

const limits: Readonly<Record<QuantizeMode, Limit>> = {
  "int8-dynamic": INT8_LIMIT,
  "int8-mixed": INT8_LIMIT,
  "int8-blocks": INT8_LIMIT,
  "int8-static": STATIC_LIMIT,
  fp16: FP16_LIMIT,
};

type WriteCost = Pick<QuantizeReport, "seconds" | "peakRssMB">;

const costSince = (start: number): WriteCost => ({
  seconds: (performance.now() - start) / 1000,
  peakRssMB: process.resourceUsage().maxRSS / 1024,
});

async function unmeasured([first]: readonly Candidate[]) {
  const { label, quantize: apply, always = [] } = first as Candidate;
  return { label, graph: await apply(new Set(always)), kept: always, measured: undefined };
}

/** @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid` when the given folder has no valid tokenizer.json */
async function tokenizerPath(
  given: QuantizeOptions["tokenizer"],
  model: string,
  folder: string,
): Promise<string | undefined> {
  if (given !== undefined) {
    const path = transformerFolder(await modelPath(given, folder));
    await readTokenizer(path);
    return path;
  }
  const own = transformerFolder(model);
  return access(join(own, "tokenizer.json")).then(
    () => own,
    () => undefined,
  );
}

/** Returns the number of rows of the token embedding table; infinity if there is no such table. */
function vocabularyOf(graph: Graph): number {
  const ids = inputWithRole(graph, "input_ids");
  return (ids && tableRows(ids)) ?? Number.POSITIVE_INFINITY;
}

const weightBytes = (graph: Graph): number =>
  [...graph.constants()].reduce((sum, { constant }) => sum + (constant ? byteLength(constant) : 0), 0);
