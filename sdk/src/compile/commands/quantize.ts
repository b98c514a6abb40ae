import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Parity } from "../../artifact/manifest.ts";
import { type Candidate, choosePrecision } from "../accuracy/choose-precision.ts";
import { assertFiniteWeights } from "../accuracy/finite-weights.ts";
import { FP16_LIMIT, INT8_LIMIT, type Limit, RANDOM_TOKENS_LIMIT, STATIC_LIMIT } from "../accuracy/limits.ts";
import { modelAgreementInSubprocess } from "../accuracy/model-agreement.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { tableRows } from "../accuracy/table-rows.ts";
import { assertWritable, replaceFile } from "../files/replace-file.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { byteLength } from "../graph/tensor.ts";
import { encodeTextsInSubprocess } from "../model/encode-texts.ts";
import { readModelSource } from "../model/model-source.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { calibrationTexts } from "../quantize/calibration/calibration-texts.ts";
import { integerMatMuls } from "../quantize/qdq/integer-matmuls.ts";
import { type QuantizeChoice, type QuantizeMode, quantizeCandidates } from "../stages/quantize-candidates.ts";

export interface QuantizeOptions extends QuantizeChoice {
  /** An ONNX file, or a Hugging Face model folder. */
  source: string;
  /** The file to write; an earlier one is replaced. */
  out: string;
  /** Folder of the model's tokenizer.json; default: the source, if it is such a folder. Without it, activations are not observed and random tokens compared. */
  tokenizer?: string;
  /** What activations are observed on. Default: lines that come with this package. */
  calibration?: readonly string[];
  /** Run original and result and refuse when they differ too much. Default true. */
  checkParity?: boolean;
  /** Called as each stage begins. */
  onStage?: (stage: string) => void;
}

export interface QuantizeReport {
  mode: QuantizeMode;
  nodes: { before: number; after: number };
  /** Of weights. */
  bytes: { before: number; after: number };
  /** How activation ranges were found; int8-static alone. */
  ranges: string | undefined;
  /** Nodes that stay in the next higher precision, because they cost too much accuracy otherwise. */
  kept: readonly string[];
  parity: Parity | undefined;
  /** Of reading, quantizing and writing. */
  seconds: number;
  /** Largest resident set of this process until then. */
  peakRssMB: number;
}

/**
 * Fuses and quantizes a model: read → fuse → observe → quantize → write → compare. The result takes its place only when it is
 * close enough to the original.
 *
 * Models that were quantized elsewhere keep their scales and integer weights. int8-static is not fused, for runtimes that
 * know standard operators alone.
 *
 * @throws BertEdgeError as `readModelSource`, `file_changed` as long as it runs; `out_unwritable`; `weights_invalid`;
 *   `texts_not_encoded`, `calibration_missing`, `inputs_unknown`, `calibration_invalid`, `calibration_failed`,
 *   `quantize_opset` when it cannot be calibrated; `model_constant` when there is nothing to compare;
 *   `nothing_to_quantize`; `accuracy_gate` when the result is not close enough; `parity_failed`, `parity_impossible`
 */
export async function quantizeModel(options: QuantizeOptions): Promise<QuantizeReport> {
  const { source, out, mode, checkParity = true, onStage = () => {} } = options;
  const start = performance.now();
  await assertWritable(out);
  onStage(`read ${source}`);
  const { graph, envelope, writeOriginal } = await readModelSource(source);
  assertFiniteWeights(graph, source);
  const before = { nodes: graph.nodes.size, bytes: weightBytes(graph) };
  const tokenizer = options.tokenizer ?? ((await hasTokenizer(source)) ? source : undefined);
  const vocabulary = vocabularyOf(graph);

  onStage("fuse");
  const fused = mode === "int8-static" ? graph : await fuse(graph);
  return replaceFile(out, async ({ path, folder, publish }) => {
    if (tokenizer !== undefined) onStage("observe activations");
    const lines = options.calibration ?? calibrationTexts;
    const texts = [...lines, ...probeTexts];
    const ids = tokenizer === undefined ? undefined : await encodeTextsInSubprocess(tokenizer, vocabulary, texts);
    const candidates = await quantizeCandidates(fused, options, ids ? ids.slice(0, lines.length) : undefined, folder);

    onStage(`quantize and write ${out}`);
    const writtenAt = { seconds: 0, peakRssMB: 0 };
    let original: string | undefined;
    const probes = ids?.slice(lines.length);
    const write = async (result: Graph) => {
      await writeOnnx(path, result, envelope);
      writtenAt.seconds ||= (performance.now() - start) / 1000;
      writtenAt.peakRssMB ||= process.resourceUsage().maxRSS / 1024;
    };
    const parity = async (result: Graph) => {
      await write(result);
      original ??= await writeOriginal(folder);
      return modelAgreementInSubprocess(original, path, probes);
    };
    const [first] = candidates as [Candidate];
    if (checkParity) onStage("compare with the original");
    const limit = ids || mode === "fp16" ? limits[mode] : RANDOM_TOKENS_LIMIT;
    const choice = checkParity
      ? await choosePrecision(`${source} in ${mode}`, candidates, limit, { parity }, onStage)
      : {
          label: first.label,
          graph: first.quantize(new Set(first.always)),
          kept: first.always ?? [],
          measured: undefined,
        };
    await write(choice.graph);
    await publish();
    return {
      mode,
      nodes: { before: before.nodes, after: choice.graph.nodes.size },
      bytes: { before: before.bytes, after: weightBytes(choice.graph) },
      ranges: mode === "int8-static" ? choice.label : undefined,
      kept: choice.kept,
      parity: choice.measured?.parity,
      ...writtenAt,
    };
  });
}

const limits: Readonly<Record<QuantizeMode, Limit>> = {
  "int8-dynamic": INT8_LIMIT,
  "int8-blocks": INT8_LIMIT,
  "int8-static": STATIC_LIMIT,
  fp16: FP16_LIMIT,
};

async function fuse(graph: Graph): Promise<Graph> {
  await fuseGraph(graph);
  return integerMatMuls(graph);
}

const hasTokenizer = (folder: string): Promise<boolean> =>
  access(join(folder, "tokenizer.json")).then(
    () => true,
    () => false,
  );

/** Rows of the table that token ids index; infinite where there is none. */
function vocabularyOf(graph: Graph): number {
  const ids = graph.inputs.find(({ name }) => name === "input_ids");
  return (ids && tableRows(ids)) ?? Number.POSITIVE_INFINITY;
}

const weightBytes = (graph: Graph): number =>
  [...graph.constants()].reduce((sum, { constant }) => sum + (constant ? byteLength(constant) : 0), 0);
