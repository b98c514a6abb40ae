import { writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../artifact/error.ts";
import type { Parity } from "../artifact/manifest.ts";
import type { TokenIds } from "../runtime/engine/engine.ts";
import { readJson } from "./checkpoint/json-file.ts";
import { readTokenizer } from "./checkpoint/model-folder.ts";
import { type Candidate, choosePrecision } from "./gate/choose-precision.ts";
import { assertFiniteWeights } from "./gate/finite-weights.ts";
import { FP16_LIMIT, INT8_LIMIT, type Limit, RANDOM_TOKENS_LIMIT, STATIC_LIMIT } from "./gate/measured.ts";
import type { Graph } from "./graph/graph.ts";
import { readModelSource } from "./model-source.ts";
import { writeOnnx } from "./onnx/write-onnx.ts";
import { optimizeGraph } from "./optimize/optimize-graph.ts";
import { calibrationLines } from "./quantize/calibration-lines.ts";
import { beyondHalf } from "./quantize/half/beyond-half.ts";
import { quantizeInt8Static } from "./quantize/int8-static.ts";
import { type PrecisionOptions, precisions } from "./quantize/precisions.ts";
import { integerProducts } from "./quantize/qdq/integer-products.ts";
import { quantizableNodes } from "./quantize/quantize-graph.ts";
import { type ObservedRange, observedRanges } from "./quantize/ranges.ts";
import { leastErrorRange, percentileRange, type Range } from "./quantize/static/histogram.ts";
import { type TokenBatch, tokenBatches } from "./quantize/token-batches.ts";
import { observeProducts } from "./quantize/weights/observe.ts";
import { assertWritable, replaceFile } from "./replace-file.ts";
import { encoderOf, type TextEncoder } from "./text-encoder.ts";
import { inChild } from "./verify/in-child.ts";
import { probeInputs } from "./verify/probe-inputs.ts";
import { probeTexts } from "./verify/probe-texts.ts";
import { tableRows } from "./verify/table-rows.ts";

export type QuantizeMode = "int8-dynamic" | "int8-blocks" | "int8-static" | "fp16";

export interface QuantizeOptions extends Pick<PrecisionOptions, "tableBits" | "feedForwardBits"> {
  /** An ONNX file, or a Hugging Face model folder. */
  source: string;
  /** The file to write; an earlier one is replaced. */
  out: string;
  mode: QuantizeMode;
  /** Folder of the model's tokenizer.json. Without it, activations are not observed and random tokens compared. */
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
 * @throws BertEdgeError as `readModelSource`; `out_unwritable`; `weights_invalid`; `calibration_missing`, `inputs_unknown`,
 *   `calibration_invalid`, `quantize_opset` when it cannot be calibrated; `model_constant` when there is nothing to compare;
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
  const encode = options.tokenizer === undefined ? undefined : await encoderFrom(options.tokenizer, graph);

  onStage("fuse");
  const fused = mode === "int8-static" ? graph : await fuse(graph);
  if (encode) onStage("observe activations");
  const candidates = await candidatesOf(fused, options, encode?.(options.calibration ?? calibrationLines));

  onStage(`quantize and write ${out}`);
  return replaceFile(out, async ({ path, folder, publish }) => {
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
      return inChild<Parity>(agreementScript, [original, path, ...probes]);
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

/** Of a text that is observed or compared: enough for attention to matter. */
const MAX_TOKENS = 128;

/** Positions of texts that a folder's files speak of; RoBERTa's count from 2 on. */
const Lengths = v.object({ model_max_length: v.optional(v.number()), max_position_embeddings: v.optional(v.number()) });
const RESERVED_POSITIONS = 2;

async function encoderFrom(folder: string, graph: Graph): Promise<TextEncoder> {
  const ids = graph.inputs.find(({ name }) => name === "input_ids");
  const words = ids && tableRows(ids);
  const tokenizer = await readTokenizer(folder);
  const { model_max_length = MAX_TOKENS } = v.parse(v.fallback(Lengths, {}), tokenizer.config);
  const config = await readJson(folder, "config.json", v.fallback(Lengths, {}));
  const positions = (config?.max_position_embeddings ?? Number.POSITIVE_INFINITY) - RESERVED_POSITIONS;
  const maxTokens = Math.min(MAX_TOKENS, model_max_length, positions);
  return encoderOf(folder, tokenizer, maxTokens, words ?? Number.POSITIVE_INFINITY);
}

async function candidatesOf(
  fused: Graph,
  { mode, tableBits, feedForwardBits }: QuantizeOptions,
  sequences: readonly TokenIds[] | undefined,
): Promise<Candidate[]> {
  const batches = sequences && tokenBatches(fused, sequences);
  if (mode === "int8-static") return staticCandidates(fused, batches);
  const layers = quantizableNodes(fused);
  if (mode === "fp16") {
    const probes = batches ?? probeInputs(fused).flatMap(([inputs]) => inputs ?? []);
    return [{ label: mode, quantize: precisions.fp16(fused), layers, always: [...(await beyondHalf(fused, probes))] }];
  }
  if (hasIntegers(fused)) return [{ label: mode, quantize: () => fused, layers: [] }];
  if (layers.length === 0) {
    throw new BertEdgeError(
      "nothing_to_quantize",
      "No float32 weight of the model is read by a matrix product or a lookup.",
      {
        hint: "Models in half precision and those made by other tools than exporters may have none: quantize the float32 export.",
      },
    );
  }
  const calibration = batches && (await observeProducts(fused, batches));
  const precision = mode === "int8-dynamic" ? "int8" : mode;
  const quantize = precisions[precision](fused, {
    calibration,
    ...(tableBits && { tableBits }),
    ...(feedForwardBits && { feedForwardBits }),
  });
  return [{ label: mode, quantize, layers }];
}

/** Whether a model comes quantized: then it stays as it is. */
const hasIntegers = (graph: Graph): boolean =>
  [...graph.constants()].some(({ dtype, shape }) => (dtype === "int8" || dtype === "uint8") && shape?.length === 2);

/** Ways to find ranges, of which none is the best for all models: docs/accuracy.md. */
async function staticCandidates(graph: Graph, batches: readonly TokenBatch[] | undefined): Promise<Candidate[]> {
  if (!batches) {
    throw new BertEdgeError("calibration_missing", "int8-static needs to know what activations are like.", {
      hint: "Give the folder of the model's tokenizer.json with --tokenizer.",
    });
  }
  const observed = await observedRanges(graph, batches, { threads: 1 });
  const ways: Record<string, (range: ObservedRange) => Range> = {
    "least error": ({ histogram }) => leastErrorRange(histogram),
    "min and max": (range) => range,
    "99.999th percentile": ({ histogram }) => percentileRange(histogram, 99.999),
  };
  return Object.entries(ways).map(([label, rangeOf]) => ({
    label,
    quantize: () => quantizeInt8Static(graph, new Map([...observed].map(([value, range]) => [value, rangeOf(range)]))),
    layers: [],
  }));
}

const weightBytes = (graph: Graph): number =>
  [...graph.constants()].reduce((sum, { constant }) => sum + (constant?.data.length ?? 0), 0);
