import type { Target } from "../../artifact/manifest.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { type Engine, type EngineSession, oneModel } from "../../runtime/engine/engine.ts";
import type { Graph } from "../graph/graph.ts";
import { encodeProgram } from "../lower/write-model-file.ts";
import type { TextModel } from "../model/text-model.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";

type ModelBytes = Uint8Array<ArrayBuffer>;

/** Runs graphs on an engine: encodes a graph as the engine's model file and runs the file. */
export interface GraphRunner {
  readonly extension: string;
  /** Whether the file format allows some nodes in a higher precision. */
  readonly mixesPrecisions: boolean;
  /**
   * Encodes a graph as a model file. The last file is cached, because the same graph is first measured and then packed.
   */
  readonly file: (graph: Graph) => Promise<ModelBytes>;
  /** Computes the vectors or logits of texts. */
  readonly compute: (graph: Graph, texts: readonly string[]) => Promise<Float32Array[]>;
}

/** @throws BertEdgeError (when the returned functions run) `engine_unsupported`, `engine_failed` */
export async function graphRunner(model: TextModel, engineName: Target["engine"]): Promise<GraphRunner> {
  const engine = await engineOnThisMachine(engineName);
  const size = { maxTokens: model.maxTokens, vocabulary: model.config.vocabularySize };
  const isProgram = engineName === "wasm";
  let last: { readonly graph: Graph; readonly file: Promise<ModelBytes> } | undefined;
  function file(graph: Graph): Promise<ModelBytes> {
    if (last?.graph !== graph) last = { graph, file: isProgram ? encodeProgram(graph, size) : encodeAsync(graph) };
    return last.file;
  }
  return {
    extension: isProgram ? "safetensors" : "onnx",
    mixesPrecisions: !isProgram,
    file,
    compute: async (graph, texts) => computeFile(model, engine, await file(graph), texts),
  };
}

const encodeAsync = async (graph: Graph): Promise<ModelBytes> => encodeOnnx(graph);

/** Computes the vectors or logits of texts with a model file. */
export const computeFile = (
  model: Pick<TextModel, "compute">,
  engine: Engine,
  file: ModelBytes,
  texts: readonly string[],
): Promise<Float32Array[]> => withSession(engine, file, (session) => model.compute(session, texts));

/** Runs `work` with a session of a model file, and then releases the session. */
export async function withSession<T>(
  engine: Engine,
  file: ModelBytes,
  work: (session: EngineSession) => Promise<T>,
): Promise<T> {
  const session = await engine.load(oneModel(file));
  try {
    return await work(session);
  } finally {
    await session.release();
  }
}
