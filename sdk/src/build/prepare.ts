import { basename, join, resolve } from "node:path";
import * as v from "valibot";
import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import {
  MANIFEST_FORMAT,
  type Manifest,
  type ManifestFile,
  ModelName,
  type Parity,
  type Target,
  type TargetName,
  targetNames,
} from "../artifact/manifest.ts";
import { sha256Hex } from "../artifact/sha256.ts";
import type { Engine, TokenIds } from "../runtime/engine/engine.ts";
import { ortNodeEngine } from "../runtime/engine/ort-node/index.ts";
import { sentenceVector } from "../runtime/tasks/sentence-vector.ts";
import { createTokenizer } from "../runtime/tokenizer/tokenizer.ts";
import { calibrate } from "./calibrate/calibrate.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint/checkpoint.ts";
import { maxTokensOf } from "./checkpoint/encoder-config.ts";
import { encoderGraph } from "./checkpoint/encoder-graph.ts";
import { encoderWeights } from "./checkpoint/encoder-weights.ts";
import { engineOnThisMachine } from "./engines.ts";
import { copyGraph } from "./graph/copy.ts";
import type { Graph } from "./graph/graph.ts";
import { encodeOnnx } from "./onnx/encode.ts";
import { incompleteness } from "./optimize/completeness.ts";
import { optimizeGraph } from "./optimize/optimize-graph.ts";
import { assertReplaceable, writeArtifact } from "./pack/write-artifact.ts";
import { toFp16 } from "./quantize/fp16.ts";
import { quantizeInt8Dynamic } from "./quantize/int8-dynamic.ts";
import { smoothLayerNorms } from "./quantize/smooth-layer-norm.ts";
import { FP16_LIMIT, FP32_LIMIT, gate, INT8_LIMIT, type ParityLimit, parity } from "./verify/parity.ts";
import { probeTexts } from "./verify/probe-texts.ts";

export interface PrepareOptions {
  /** A Hugging Face model folder: config.json, model.safetensors, tokenizer.json. */
  folder: string;
  /** Where the artifact goes; an earlier artifact there is replaced. */
  out: string;
  /** Default: the folder's name. */
  name?: string;
  targets?: readonly TargetName[];
  /** Called as each stage begins. */
  onStage?: (stage: string) => void;
}

export interface PrepareReport {
  manifest: Manifest;
  /** Agreement of the fused float32 graph with the decomposed one. */
  fusion: Parity;
  nodes: { decomposed: number; fused: number };
}

interface Precision {
  readonly precision: Target["precision"];
  readonly file: string;
  readonly limit: ParityLimit;
  readonly transform: (fused: Graph) => Graph;
}
const int8: Precision = {
  precision: "int8",
  file: "model.int8.onnx",
  limit: INT8_LIMIT,
  transform: (fused) => quantizeInt8Dynamic(smoothLayerNorms(fused)),
};
const fp16: Precision = { precision: "fp16", file: "model.fp16.onnx", limit: FP16_LIMIT, transform: toFp16 };

/** What each target runs: its engine and the precision that engine is fastest in. */
const recipes: Record<TargetName, { engine: Target["engine"] } & Precision> = {
  edge: { engine: "ort-web", ...int8 },
  "regional-cpu": { engine: "ort-node", ...int8 },
  "regional-gpu": { engine: "ort-node", ...fp16 },
};

/**
 * Checkpoint in, artifact out: read → build the graph → fuse it → check it → quantize → check every target on the engine
 * that will run it → time it → write. Nothing is written unless every check passes.
 *
 * @throws BertEdgeError of the stage that failed; see each
 */
export async function prepare(options: PrepareOptions): Promise<PrepareReport> {
  const { folder, out, targets = targetNames, onStage = () => {} } = options;
  const name = modelName(options.name ?? basename(resolve(folder)));

  await assertReplaceable(out);
  onStage("read checkpoint");
  const checkpoint = await readCheckpoint(folder);
  const maxTokens = Math.min(checkpoint.head.maxTokens ?? Number.POSITIVE_INFINITY, maxTokensOf(checkpoint.config));

  onStage("build and fuse the graph");
  const decomposed = encoderGraph(checkpoint.config, encoderWeights(checkpoint));
  const fused = await fuse(decomposed);

  onStage("check fusion");
  const probe = probeWith(checkpoint, maxTokens);
  const reference = await probe(ortNodeEngine({ threads: 1, optimize: false }), encodeOnnx(decomposed));
  const fusion = parity(reference, await probe(ortNodeEngine({ threads: 1 }), encodeOnnx(fused)));
  gate("The fused graph", fusion, FP32_LIMIT);

  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const built: Partial<Record<TargetName, Target>> = {};
  for (const target of targets) {
    const { engine, precision, file, limit, transform } = recipes[target];
    onStage(`quantize and check ${target} (${precision})`);
    const model = files.get(file) ?? encodeOnnx(transform(fused));
    files.set(file, model);
    const measured = parity(reference, await probe(await engineOnThisMachine(target), model));
    gate(`Target ${target} in ${precision}`, measured, limit);
    built[target] = { engine, precision, model: file, parity: measured };
  }

  files.set("tokenizer.json", jsonBytes(checkpoint.tokenizer.json));
  files.set("tokenizer_config.json", jsonBytes(checkpoint.tokenizer.config));
  const manifest: Manifest = {
    format: MANIFEST_FORMAT,
    name,
    task: "embed",
    pooling: checkpoint.head.pooling,
    normalize: checkpoint.head.normalize,
    dimensions: checkpoint.config.hidden_size,
    maxTokens,
    vocabulary: checkpoint.config.vocab_size,
    tokenizer: { json: "tokenizer.json", config: "tokenizer_config.json" },
    files: await describe(files),
    targets: built,
  };

  onStage("time the CPU targets");
  const inMemory: Artifact = {
    manifest,
    version: "unwritten",
    read: async (file) => files.get(file) as Uint8Array<ArrayBuffer>,
  };
  const calibrated = await calibrate(inMemory);

  onStage(`write ${out}`);
  await writeArtifact(out, calibrated.manifest, files);
  return {
    manifest: calibrated.manifest,
    fusion,
    nodes: { decomposed: decomposed.nodes.size, fused: fused.nodes.size },
  };
}

/** @throws BertEdgeError `fusion_incomplete` */
async function fuse(decomposed: Graph): Promise<Graph> {
  const graph = copyGraph(decomposed);
  const [reason] = incompleteness(graph, await optimizeGraph(graph));
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

/** Runs the probe texts through a model file on an engine. */
function probeWith(checkpoint: Checkpoint, maxTokens: number) {
  const { config, head } = checkpoint;
  const sequences = probeSequences(checkpoint, maxTokens);
  return async (engine: Engine, model: Uint8Array<ArrayBuffer>): Promise<Float32Array[]> => {
    const session = await engine.load(async () => model);
    try {
      const states = await session.run(sequences);
      return states.map((rows) => sentenceVector(rows, config.hidden_size, head));
    } finally {
      await session.release();
    }
  };
}

/** @throws BertEdgeError `checkpoint_invalid` when the tokenizer does not work or is not this model's */
function probeSequences({ folder, tokenizer, config }: Checkpoint, maxTokens: number): TokenIds[] {
  const invalid = (what: string, cause?: unknown) =>
    new BertEdgeError("checkpoint_invalid", `${join(folder, "tokenizer.json")} ${what}.`, {
      hint: "tokenizer.json and model.safetensors must come from the same model.",
      cause,
    });
  let sequences: TokenIds[];
  try {
    const { encode } = createTokenizer(tokenizer.json, tokenizer.config);
    sequences = probeTexts.map((text) => encode(text, maxTokens).ids);
  } catch (cause) {
    throw invalid("cannot be used as a tokenizer", cause);
  }
  const largest = Math.max(...sequences.map((ids) => Math.max(...ids)));
  if (largest < config.vocab_size) return sequences;
  throw invalid(`has the token ${largest}, but config.json a vocab_size of ${config.vocab_size}`);
}

async function describe(files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>): Promise<Record<string, ManifestFile>> {
  const described = [...files].map(async ([name, bytes]) => [
    name,
    { sha256: await sha256Hex(bytes), size: bytes.length },
  ]);
  return Object.fromEntries(await Promise.all(described));
}

const jsonBytes = (value: object): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(value));
