import { BertEdgeError } from "#sdk/artifact/error.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { byteLength } from "#sdk/compile/graph/tensor.ts";
import { encodeProgram } from "#sdk/compile/lower/encode-program.ts";
import type { TextModel } from "#sdk/compile/model/text-model.ts";
import type { TextOrPair } from "#sdk/compile/model/tokenize-texts.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { withHead } from "#sdk/runtime/engine/with-head.ts";
import { ortIntegerMatMul } from "#test/oracles/interpreter/ort-integer-mat-mul.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import type { Row } from "./rows.ts";

/** A graph that an engine has loaded. */
export interface Loaded {
  compute(texts: readonly TextOrPair[]): Promise<Float32Array[]>;
  release(): Promise<void>;
  /** Bytes of our engine's model file. In onnxruntime and in the reference kernels, bytes of the weights. */
  readonly bytes: number;
}

interface Session extends Pick<EngineSession, "run" | "release">, Pick<Loaded, "bytes"> {}

export async function load(engine: Row["engine"], model: TextModel, graph: Graph): Promise<Loaded> {
  const session = engine === "edge" ? await edgeSession(model, graph) : await ortSession(graph, engine);
  return {
    compute: (texts) => model.compute(session, texts),
    release: () => session.release(),
    bytes: session.bytes,
  };
}

async function ortSession(graph: Graph, engine: Row["engine"]): Promise<Session> {
  const { load } = ortNodeEngine({ threads: 1, optimize: engine === "onnxruntime" });
  return { ...(await load(oneModel(encodeOnnx(graph)))), bytes: weightBytes(graph) };
}

/**
 * Opens a session of our engine. If our engine has no kernels for the graph, opens a session of the reference kernels,
 * which compute the same result to the last bit.
 */
async function edgeSession(model: TextModel, graph: Graph): Promise<Session> {
  try {
    const file = await modelFile(model, graph);
    return { ...(await (await engineOnThisMachine("wasm")).load(oneModel(file))), bytes: file.length };
  } catch (error) {
    if (error instanceof BertEdgeError && error.code === "engine_unsupported") {
      const run = withHead(referenceSession(graph, await ortIntegerMatMul()).run);
      return { run, release: async () => {}, bytes: weightBytes(graph) };
    }
    throw error;
  }
}

/** Encodes a graph for our engine. */
export const modelFile = ({ maxTokens, config }: TextModel, graph: Graph): Promise<Uint8Array<ArrayBuffer>> =>
  encodeProgram(graph, { maxTokens, vocabulary: config.vocabularySize });

const weightBytes = (graph: Graph): number =>
  [...graph.constants()].reduce((sum, { constant }) => sum + (constant ? byteLength(constant) : 0), 0);
