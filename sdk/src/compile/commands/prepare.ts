import { basename, resolve } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import {
  type Manifest,
  ModelName,
  type Parity,
  type Target,
  type TargetName,
  targetNames,
} from "../../artifact/manifest.ts";
import type { Measurements } from "../../artifact/measurements.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import type { Engine } from "../../runtime/engine/engine.ts";
import { ortNodeEngine } from "../../runtime/engine/ort-node/index.ts";
import { memoryStore } from "../../storage/memory.ts";
import { storedArtifact } from "../../storage/stored-artifact.ts";
import { choosePrecision, type Measures } from "../accuracy/choose-precision.ts";
import { assertLongest } from "../accuracy/longest-text.ts";
import { FP32_LIMIT, gate, parity } from "../accuracy/parity.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { readTaskData, type TaskFiles } from "../accuracy/task-data.ts";
import { assertVaries } from "../accuracy/varies.ts";
import { tokenBatches } from "../evaluate/token-batches.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import { unfusedParts } from "../fusions/unfused-parts.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { measureTargets } from "../latency/measure-targets.ts";
import { readTextModel } from "../model/text-model.ts";
import { manifestOf } from "../pack/manifest-of.ts";
import { assertReplaceable, writeArtifact } from "../pack/write-artifact.ts";
import { calibrationTexts } from "../quantize/calibration/calibration-texts.ts";
import { observeStatistics } from "../quantize/calibration/observe-statistics.ts";
import { overflowingNodes } from "../quantize/fp16/overflowing-nodes.ts";
import { type Precision, precisions } from "../quantize/precisions.ts";
import { quantizableNodes } from "../quantize/quantize-graph.ts";
import { computeFile, withSession } from "../stages/compute-file.ts";
import { keepingLast, modelFormats } from "../stages/model-formats.ts";
import { firstOf, type PassedOver, type Recipe, recipes } from "../stages/recipes.ts";

export interface PrepareOptions extends TaskFiles {
  /** A Hugging Face model folder: config.json, tokenizer.json, model.safetensors or its ONNX export. */
  folder: string;
  /** Where the artifact goes; an earlier artifact there is replaced. */
  out: string;
  /** Default: the folder's name. */
  name?: string;
  targets?: readonly TargetName[];
  /** What activations are observed on, to round weights by. Default: lines that come with this package. */
  calibration?: readonly string[];
  /** Bits of the word table in int8 targets. Default 8; 4 make room in an isolate for models with many words. */
  tableBits?: 8 | 4;
  /** The least mean cosine with the float32 model, where it is more than the 0.99 of int8 targets, the 0.9999 of fp16. */
  minCosine?: number;
  /** Called as each stage begins. */
  onStage?: (stage: string) => void;
}

export interface PrepareReport {
  manifest: Manifest;
  /** Time and memory of the targets on this machine. */
  measurements: Measurements;
  /** Agreement of the fused float32 graph with the decomposed one. */
  fusion: Parity;
  nodes: { decomposed: number; fused: number };
  /** Faster engines that targets were not made for. */
  passedOver: (PassedOver & { target: TargetName })[];
}

/**
 * Checkpoint in, artifact out: read → build the graph → fuse it → check it → observe activations → quantize → check every
 * target on the engine that will run it → time it → write. Nothing is written unless every check passes.
 *
 * @throws BertEdgeError of the stage that failed; see each
 */
export async function prepare(options: PrepareOptions): Promise<PrepareReport> {
  const { folder, out, targets = targetNames, onStage = () => {} } = options;
  const name = modelName(options.name ?? basename(resolve(folder)));

  await assertReplaceable(out);
  onStage("read checkpoint");
  const model = await readTextModel(folder);
  const data = await readTaskData(model.task, options);

  onStage("build and fuse the graph");
  const fused = await fuse(model.graph);

  onStage("check fusion");
  const formats = modelFormats({ maxTokens: model.maxTokens, vocabulary: model.config.vocab_size });
  const computed = async (texts: readonly string[], engine: Engine, graph: Graph, format = formats[engine.name]) =>
    computeFile(model, engine, await format.encode(graph), texts);
  const native = ortNodeEngine({ threads: 1 });
  const asFused = await withSession(native, await formats["ort-node"].encode(fused), async (session) => {
    // Rotary positions have no table that could end.
    if (!model.config.rope_theta) await assertLongest(model, session);
    return model.compute(session, probeTexts);
  });
  const reference = await computed(probeTexts, ortNodeEngine({ threads: 1, optimize: false }), model.graph);
  const fusion = parity(reference, asFused, model.task.task);

  onStage("observe activations");
  const lines = model.encode(options.calibration ?? calibrationTexts);
  const batches = tokenBatches(fused, lines);
  const calibration = await observeStatistics(fused, batches);
  assertVaries(reference, calibration);
  gate("The fused graph", fusion, FP32_LIMIT);
  const fp32 = await data?.score((texts) => computed(texts, native, fused));

  const layers = quantizableNodes(fused);
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const built: Partial<Record<TargetName, Target>> = {};
  const quantizers = new Map<Precision, ReturnType<(typeof precisions)[Precision]>>();
  const build = async (target: TargetName, { engine, precisions: names, limit }: Recipe): Promise<Target> => {
    onStage(`quantize and check ${target} on ${engine}`);
    const beyond = names.includes("fp16") ? [...(await overflowingNodes(fused, batches))] : [];
    const runner = await engineOnThisMachine(engine);
    const format = keepingLast(formats[engine]);
    const results = (graph: Graph, texts: readonly string[]) => computed(texts, runner, graph, format);
    const measures: Measures = {
      parity: async (graph) => parity(reference, await results(graph, probeTexts), model.task.task),
      async task(graph) {
        if (!data || fp32 === undefined) return undefined;
        const score = await data.score((texts) => results(graph, texts));
        return { metric: data.metric, score, fp32 };
      },
    };
    const candidates = names.map((precision) => {
      const quantize =
        quantizers.get(precision) ??
        precisions[precision](fused, { statistics: calibration, tableBits: options.tableBits ?? 8 });
      quantizers.set(precision, quantize);
      const spared = format.mixesPrecisions ? layers : [];
      return { label: precision, quantize, layers: spared, always: precision === "fp16" ? beyond : [] };
    });
    const asked = { ...limit, meanCosine: Math.max(limit.meanCosine, options.minCosine ?? 0) };
    const choice = await choosePrecision(`Target ${target} on ${engine}`, candidates, asked, measures, onStage);
    const { label, graph, measured, kept } = choice;
    const file = fileOf(files, await format.encode(graph), `${label}.${format.extension}`);
    return { engine, precision: label, kept: [...kept], model: file, ...measured };
  };
  const passedOver: PrepareReport["passedOver"] = [];
  for (const target of targets) {
    const onPassedOver = (which: PassedOver) => void passedOver.push({ target, ...which });
    built[target] = await firstOf(recipes[target], (recipe) => build(target, recipe), onPassedOver);
  }

  for (const [file, bytes] of model.tokenizer.files) files.set(file, bytes);
  const manifest = await manifestOf(name, model, files, built);

  onStage("time the CPU targets");
  const inMemory = storedArtifact(memoryStore(files), { manifest, version: "unwritten", measurements: {} });
  const { measurements } = await measureTargets(inMemory);

  onStage(`write ${out}`);
  await writeArtifact(out, { manifest, measurements, files });
  return {
    manifest,
    measurements,
    fusion,
    nodes: { decomposed: model.graph.nodes.size, fused: fused.nodes.size },
    passedOver,
  };
}

/** The name of a model file with these bytes: two targets with the same one share it. */
function fileOf(files: Map<string, Uint8Array<ArrayBuffer>>, bytes: Uint8Array<ArrayBuffer>, name: string): string {
  const same = [...files].find(([, known]) => Buffer.compare(known, bytes) === 0);
  if (same) return same[0];
  const free = [`model.${name}`, `model.2.${name}`].find((each) => !files.has(each)) as string;
  files.set(free, bytes);
  return free;
}

/** @throws BertEdgeError `fusion_incomplete` */
async function fuse(decomposed: Graph): Promise<Graph> {
  const graph = copyGraph(decomposed);
  const [reason] = unfusedParts(graph, await fuseGraph(graph));
  if (!reason) return graph;
  throw new BertEdgeError(
    "fusion_incomplete",
    `${reason.pattern} at ${reason.node} could not be fused: ${reason.why}.`,
    {
      hint: "Please report it with the model's config.json.",
    },
  );
}

/** @throws BertEdgeError `name_invalid` */
function modelName(name: string): string {
  const result = v.safeParse(ModelName, name.toLowerCase());
  if (result.success) return result.output;
  throw new BertEdgeError(
    "name_invalid",
    `${JSON.stringify(name)} cannot be a model's name: ${result.issues[0].message}.`,
    {
      hint: "Give one with --name.",
    },
  );
}
