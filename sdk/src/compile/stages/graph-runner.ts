import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Target } from "../../artifact/manifest.ts";
import { vectorHead } from "../../runtime/tasks/task-output.ts";
import type { Graph } from "../graph/graph.ts";
import { MAX_WEIGHT_BYTES } from "../latency/platforms/fit.ts";
import { encodeProgram } from "../lower/write-model-file.ts";
import { takesPairs } from "../model/run-task.ts";
import type { TextModel } from "../model/text-model.ts";
import type { TextOrPair } from "../model/tokenize-texts.ts";
import { withVectorOutput } from "../model/vector-output.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { withSession } from "./engine-file.ts";
import type { StageContext } from "./stage.ts";

/** Runs graphs on an engine: writes a graph as the engine's model file and runs the file. */
export interface GraphRunner {
  readonly extension: string;
  /** Whether the file format allows some nodes in a higher precision. */
  readonly mixesPrecisions: boolean;
  /**
   * Writes a graph as a model file and returns the path. The file of the last graph is kept, because the same graph is
   * first measured and then packed. The file of the graph before is removed.
   */
  readonly file: (graph: Graph) => Promise<string>;
  /** Computes the results of texts or pairs. */
  readonly compute: (
    graph: Graph,
    texts: readonly TextOrPair[],
    progress?: (fraction: number) => void,
  ) => Promise<Float32Array[]>;
}

/**
 * Makes a runner of a model's graphs on an engine.
 *
 * @param context `folder` receives the model files
 * @param maxMemory maximum bytes of weights in memory, for our engine
 * @throws BertEdgeError (when the returned functions run) `engine_unsupported`, `engine_failed`
 */
export function graphRunner(
  model: TextModel,
  engine: Target["engine"],
  { folder, signal }: Pick<StageContext, "folder" | "signal">,
  maxMemory = MAX_WEIGHT_BYTES,
): GraphRunner {
  const { maxTokens, config, task } = model;
  const size = { maxTokens, vocabulary: config.vocabularySize, pairs: takesPairs(task) };
  const head = vectorHead(task);
  const isProgram = engine === "wasm";
  const extension = isProgram ? "safetensors" : "onnx";
  let last: { readonly graph: Graph; readonly path: string } | undefined;
  async function file(graph: Graph): Promise<string> {
    if (last?.graph === graph) return last.path;
    if (last) await rm(last.path, { force: true });
    const path = join(folder, `${crypto.randomUUID()}.${extension}`);
    if (isProgram) await writeFile(path, await encodeProgram(graph, { ...size, maxMemory }));
    else await writeOnnx(path, head ? withVectorOutput(graph, head) : graph, PRODUCER);
    last = { graph, path };
    return path;
  }
  return {
    extension,
    mixesPrecisions: !isProgram,
    file,
    compute: async (graph, texts, progress) =>
      withSession({ path: await file(graph), engine }, { signal, progress }, (session) =>
        model.compute(session, texts),
      ),
  };
}

const PRODUCER = { producerName: "bert-edge" };
