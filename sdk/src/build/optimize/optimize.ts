import { access, constants, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { readEncoder } from "../checkpoint/checkpoint.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { encoderWeights } from "../checkpoint/encoder-weights.ts";
import { copyGraph } from "../graph/copy.ts";
import type { Graph } from "../graph/graph.ts";
import type { Draft } from "../onnx/encode-model.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import type { ModelProto } from "../onnx/proto.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import type { Reason } from "../rewrite/trace.ts";
import type { ModelParity } from "../verify/model-parity.ts";
import { parityInProcess } from "../verify/parity-process.ts";
import { incompleteness } from "./completeness.ts";
import { countFused } from "./fused-operators.ts";
import { optimizeGraph } from "./optimize-graph.ts";

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
  /** Whether no attention, layer normalisation or activation of the known forms is left written out. */
  complete: boolean;
  reasons: Reason[];
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
 * @throws BertEdgeError `onnx_missing`, `onnx_invalid`, `graph_invalid`, `external_data_invalid`, `checkpoint_missing` or
 *   `checkpoint_invalid` when the model cannot be used, `out_unwritable` when the result cannot be written, `parity_exceeded` when the results differ, `parity_failed` or `parity_impossible` when they cannot be compared
 */
export async function optimize(options: OptimizeOptions): Promise<OptimizeReport> {
  const { source, out, allowPartial = false, checkParity = true, onStage = () => {} } = options;
  const start = performance.now();
  await assertWritable(out);
  onStage(`read ${source}`);
  const { graph, envelope, writeOriginal } = await readModel(source);
  const before = graph.nodes.size;

  onStage("fuse");
  const trace = await optimizeGraph(graph);
  const reasons = incompleteness(graph, trace);
  const complete = reasons.length === 0;

  onStage(`write ${out}`);
  const folder = await mkdtemp(join(dirname(resolve(out)), ".bert-edge-"));
  try {
    const written = join(folder, basename(out));
    await writeOnnx(written, graph, envelope);
    const seconds = (performance.now() - start) / 1000;
    const peakRssMB = process.resourceUsage().maxRSS / 1024;

    if (checkParity) onStage("compare with the original");
    const parity = checkParity ? await parityInProcess(await writeOriginal(folder), written) : undefined;
    if (parity && !(parity.ofTolerance <= 1)) throw exceeded(parity);

    for (const name of complete || allowPartial ? [`${written}.data`, written] : []) {
      if (await exists(name)) await rename(name, join(dirname(resolve(out)), basename(name)));
    }
    return {
      nodes: { before, after: graph.nodes.size },
      fused: countFused(graph),
      complete,
      reasons,
      parity: parity && { maxAbs: parity.maxAbs, cosine: parity.cosine, cases: parity.cases },
      seconds,
      peakRssMB,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Source {
  graph: Graph;
  /** What surrounds the graph in its file. */
  envelope: Draft<ModelProto>;
  /** The unchanged model as a file: its own, or one in this folder. */
  writeOriginal: (folder: string) => Promise<string>;
}

async function readModel(source: string): Promise<Source> {
  const isFolder = await stat(source).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    const model = await readOnnx(source);
    return { graph: fromOnnx(model), envelope: model, writeOriginal: async () => source };
  }
  const encoder = await readEncoder(source);
  const graph = encoderGraph(encoder.config, encoderWeights(encoder));
  const original = copyGraph(graph);
  const writeOriginal = async (folder: string) => {
    const path = join(folder, "original");
    await writeOnnx(path, original);
    return path;
  };
  return { graph, envelope: { producerName: "bert-edge" }, writeOriginal };
}

const exceeded = ({ maxAbs, cosine }: ModelParity) =>
  new BertEdgeError(
    "parity_exceeded",
    `The rewritten model differs from the original by up to ${maxAbs} (cosine ${cosine}).`,
    {
      hint: "Nothing was written. Please report it, with the model if you can.",
    },
  );

/** @throws BertEdgeError `out_unwritable`, before anything takes long */
async function assertWritable(out: string): Promise<void> {
  const folder = dirname(resolve(out));
  const unwritable = (what: string, cause?: unknown) =>
    new BertEdgeError("out_unwritable", what, { hint: "Give the path of a file in a folder that exists.", cause });
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    throw unwritable(`${folder} cannot be written to.`, cause);
  });
  const isFolder = await stat(out).then(
    (found) => found.isDirectory(),
    () => out === "",
  );
  if (isFolder) throw unwritable(`${out || "An empty path"} is not a file.`);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
