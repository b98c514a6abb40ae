import { appendFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Target } from "../../artifact/manifest.ts";
import { vectorHead } from "../../runtime/tasks/task-output.ts";
import type { Graph } from "../graph/graph.ts";
import { MAX_WEIGHT_BYTES } from "../latency/platforms/fit.ts";
import { encodeWithPages } from "../lower/encode-program.ts";
import { lowerGraph } from "../lower/lower-graph.ts";
import { outlineFile } from "../lower/write-model-file.ts";
import { takesPairs } from "../model/run-task.ts";
import type { TextModel } from "../model/text-model.ts";
import type { TextOrPair } from "../model/tokenize-texts.ts";
import { withVectorOutput } from "../model/vector-output.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { withSession } from "./engine-file.ts";
import type { StageContext } from "./stage.ts";

/** A model file on disk. Pages of its token embedding table follow it in the same file. */
export interface WrittenModel {
  readonly path: string;
  /** Bytes of the model file. */
  readonly modelBytes: number;
}

/** Runs graphs on an engine: writes a graph as the engine's model file and runs the file. */
export interface GraphRunner {
  readonly extension: string;
  /** Whether the file format allows some nodes in a higher precision. */
  readonly mixesPrecisions: boolean;
  /**
   * Writes a graph as a model file. The file of the last graph is kept, because the same graph is first measured and then packed. The
   * file of the graph before is removed.
   */
  readonly file: (graph: Graph) => Promise<WrittenModel>;
  /** Returns the size of our engine's model file with its whole token embedding table, in bytes. */
  readonly wholeSize: (graph: Graph) => Promise<number>;
  /** Computes the results of texts or pairs. */
  readonly compute: (
    graph: Graph,
    texts: readonly TextOrPair[],
    progress?: (fraction: number) => void,
  ) => Promise<Float32Array[]>;
}

/** What decides how our engine keeps a model in memory. */
export interface EdgeMemory {
  /** Maximum bytes of weights in memory. */
  readonly maxMemory?: number | undefined;
  /** Whether the token embedding table is cut into pages although it fits. */
  readonly pages?: boolean | undefined;
  /** Returns the token ids of typical texts, the most frequent first. */
  readonly frequent: () => Int32Array<ArrayBuffer>;
}

/**
 * Makes a runner of a model's graphs on an engine.
 *
 * @param context `folder` receives the model files
 * @throws BertEdgeError (when the returned functions run) `engine_unsupported`, `engine_failed`
 */
export function graphRunner(
  model: TextModel,
  engine: Target["engine"],
  { folder, signal }: Pick<StageContext, "folder" | "signal">,
  { maxMemory, pages, frequent }: EdgeMemory,
): GraphRunner {
  const { maxTokens, config, task } = model;
  const size = { maxTokens, vocabulary: config.vocabularySize, pairs: takesPairs(task) };
  const head = vectorHead(task);
  const isProgram = engine === "wasm";
  const extension = isProgram ? "safetensors" : "onnx";
  let last: { readonly graph: Graph; readonly written: WrittenModel } | undefined;
  async function file(graph: Graph): Promise<WrittenModel> {
    if (last?.graph === graph) return last.written;
    if (last) await rm(last.written.path, { force: true });
    const path = join(folder, `${crypto.randomUUID()}.${extension}`);
    last = { graph, written: { path, modelBytes: await write(graph, path) } };
    return last.written;
  }
  /** Writes a model file and its pages. Returns the bytes of the model file. */
  async function write(graph: Graph, path: string): Promise<number> {
    if (!isProgram) {
      await writeOnnx(path, head ? withVectorOutput(graph, head) : graph, PRODUCER);
      return (await stat(path)).size;
    }
    const encoded = await encodeWithPages(graph, {
      ...size,
      ...{ maxMemory: maxMemory ?? MAX_WEIGHT_BYTES, pages, frequent },
    });
    await writeFile(path, encoded.file);
    if (encoded.pages) await appendFile(path, encoded.pages);
    return encoded.file.length;
  }
  return {
    extension,
    mixesPrecisions: !isProgram,
    file,
    wholeSize: async (graph) => outlineFile(await lowerGraph(graph, size)).length,
    compute: async (graph, texts, progress) =>
      withSession({ ...(await file(graph)), engine }, { signal, progress }, (session) => model.compute(session, texts)),
  };
}

const PRODUCER = { producerName: "bert-edge" };
