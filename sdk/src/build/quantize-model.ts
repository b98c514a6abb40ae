import { access, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import * as v from "valibot";
import type { Parity } from "../artifact/manifest.ts";
import { readJson } from "./checkpoint/json-file.ts";
import { readTokenizer } from "./checkpoint/model-folder.ts";
import { type Candidate, choosePrecision } from "./gate/choose-precision.ts";
import { assertFiniteWeights } from "./gate/finite-weights.ts";
import { FP16_LIMIT, INT8_LIMIT, type Limit, RANDOM_TOKENS_LIMIT, STATIC_LIMIT } from "./gate/measured.ts";
import type { Graph } from "./graph/graph.ts";
import { byteLength } from "./graph/tensor.ts";
import { inChild } from "./in-child.ts";
import { readModelSource } from "./model-source.ts";
import { writeOnnx } from "./onnx/write-onnx.ts";
import { optimizeGraph } from "./optimize/optimize-graph.ts";
import { shipTokenizer } from "./pack/tokenizer/ship-tokenizer.ts";
import { calibrationLines } from "./quantize/calibration-lines.ts";
import { integerProducts } from "./quantize/qdq/integer-products.ts";
import { type QuantizeChoice, type QuantizeMode, quantizeCandidates } from "./quantize-candidates.ts";
import { assertWritable, replaceFile } from "./replace-file.ts";
import { encoderOf, openTokenizer, type TextEncoder } from "./text-encoder.ts";
import { COMPARISON } from "./verify/comparison.ts";
import { probeTexts } from "./verify/probe-texts.ts";
import { tableRows } from "./verify/table-rows.ts";

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
 *   `calibration_missing`, `inputs_unknown`, `calibration_invalid`, `calibration_failed`, `quantize_opset` when it cannot
 *   be calibrated; `model_constant` when there is nothing to compare; `nothing_to_quantize`; `accuracy_gate` when the
 *   result is not close enough; `parity_failed`, `parity_impossible`
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
  const encode = tokenizer === undefined ? undefined : await encoderFrom(tokenizer, graph);

  onStage("fuse");
  const fused = mode === "int8-static" ? graph : await fuse(graph);
  return replaceFile(out, async ({ path, folder, publish }) => {
    if (encode) onStage("observe activations");
    const sequences = encode?.(options.calibration ?? calibrationLines);
    const candidates = await quantizeCandidates(fused, options, sequences, folder);

    onStage(`quantize and write ${out}`);
    const writtenAt = { seconds: 0, peakRssMB: 0 };
    let original: string | undefined;
    let probes: string[] = [];
    if (encode) {
      const file = join(folder, "probes.json");
      await writeFile(file, JSON.stringify(encode(probeTexts).map((ids) => [...ids])));
      probes = [file];
    }
    const write = async (result: Graph) => {
      await writeOnnx(path, result, envelope);
      writtenAt.seconds ||= (performance.now() - start) / 1000;
      writtenAt.peakRssMB ||= process.resourceUsage().maxRSS / 1024;
    };
    const parity = async (result: Graph) => {
      await write(result);
      original ??= await writeOriginal(folder);
      return inChild<Parity>(agreementScript, [original, path, ...probes], COMPARISON);
    };
    const [first] = candidates as [Candidate];
    if (checkParity) onStage("compare with the original");
    const limit = encode || mode === "fp16" ? limits[mode] : RANDOM_TOKENS_LIMIT;
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

const agreementScript = new URL(`./verify/agreement-child${extname(import.meta.url)}`, import.meta.url);

const limits: Readonly<Record<QuantizeMode, Limit>> = {
  "int8-dynamic": INT8_LIMIT,
  "int8-blocks": INT8_LIMIT,
  "int8-static": STATIC_LIMIT,
  fp16: FP16_LIMIT,
};

async function fuse(graph: Graph): Promise<Graph> {
  await optimizeGraph(graph);
  return integerProducts(graph);
}

const hasTokenizer = (folder: string): Promise<boolean> =>
  access(join(folder, "tokenizer.json")).then(
    () => true,
    () => false,
  );

/** Of a text that is observed or compared: enough for attention to matter. */
const MAX_TOKENS = 128;

/** Positions of texts that a folder's files speak of; RoBERTa's count from 2 on. */
const Lengths = v.object({ model_max_length: v.optional(v.number()), max_position_embeddings: v.optional(v.number()) });
const RESERVED_POSITIONS = 2;

async function encoderFrom(folder: string, graph: Graph): Promise<TextEncoder> {
  const ids = graph.inputs.find(({ name }) => name === "input_ids");
  const words = ids && tableRows(ids);
  const files = await readTokenizer(folder);
  const { model_max_length = MAX_TOKENS } = v.parse(v.fallback(Lengths, {}), files.config);
  const config = await readJson(folder, "config.json", v.fallback(Lengths, {}));
  const positions = (config?.max_position_embeddings ?? Number.POSITIVE_INFINITY) - RESERVED_POSITIONS;
  const maxTokens = Math.min(MAX_TOKENS, model_max_length, positions);
  const vocabulary = words ?? Number.POSITIVE_INFINITY;
  return encoderOf(folder, await openTokenizer(folder, shipTokenizer(files), vocabulary), maxTokens, vocabulary);
}

const weightBytes = (graph: Graph): number =>
  [...graph.constants()].reduce((sum, { constant }) => sum + (constant ? byteLength(constant) : 0), 0);
