import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Target } from "../../artifact/manifest.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { ownModule } from "../../local/own-module.ts";
import {
  type EngineSession,
  type ModelFiles,
  oneModel,
  type TokenSequence,
  type VectorHead,
} from "../../runtime/engine/engine.ts";
import { ortNodeEngine } from "../../runtime/engine/ort-node/index.ts";
import type { Graph } from "../graph/graph.ts";
import { type PartsOptions, runInParts } from "../model/run-task.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { startSubprocess } from "../subprocess/run-in-subprocess.ts";

/** A model file on disk, and the engine that runs it. */
interface EngineFile {
  readonly path: string;
  /** Bytes of the model file. What follows are pages of its token embedding table. Default: the whole file. */
  readonly modelBytes?: number;
  readonly engine: Target["engine"];
  /** Whether onnxruntime may rewrite the graph. Default true. */
  readonly optimize?: boolean;
}

/** Runs a loaded model. */
export type LoadedModel = Pick<EngineSession, "run">;

/**
 * Minimum bytes of a model that runs in a subprocess. Native memory of a released session stays with its process. For
 * smaller models, starting a subprocess costs more than this memory is worth.
 */
const MIN_SUBPROCESS_BYTES = 128 << 20;

/**
 * Runs `work` with a session of a model file, and then releases the session. Large models run in a subprocess.
 *
 * @param options `progress` receives the finished share of each call of the session
 *
 * @throws BertEdgeError `engine_unsupported`, `engine_failed`, `aborted`, and the errors of `work`
 */
export async function withSession<T>(
  file: EngineFile,
  options: PartsOptions,
  work: (session: LoadedModel) => Promise<T>,
): Promise<T> {
  const inParts = (session: LoadedModel) => work(runInParts(session, options));
  if (bytesOnDisk(file.path) >= MIN_SUBPROCESS_BYTES) return withSubprocess(file, options.signal, inParts);
  const session = await loadEngineFile(file);
  try {
    return await inParts(session);
  } finally {
    await session.release();
  }
}

async function withSubprocess<T>(
  file: EngineFile,
  signal: AbortSignal | undefined,
  work: (session: LoadedModel) => Promise<T>,
): Promise<T> {
  const subprocess = startSubprocess({
    failure: "engine_failed",
    what: `${file.engine} could not run the model`,
    // Large models take minutes for the texts of a task. This deadline stops only a subprocess that hangs.
    deadlineMs: 24 * 60 * 60_000,
    signal,
  });
  const module = ownModule("compile/stages/engine-file").href;
  try {
    await subprocess.call({ module, name: loadFile.name, args: [file] });
    return await work({ run: (...args) => subprocess.call({ module, name: runLoaded.name, args }) });
  } finally {
    subprocess.end();
  }
}

/** The session of this process, if it is a subprocess of `withSession`. */
let loaded: EngineSession;

/**
 * Loads the model that `runLoaded` runs.
 *
 * @inSubprocess
 */
export async function loadFile(file: EngineFile): Promise<void> {
  loaded = await loadEngineFile(file);
}

/** @inSubprocess */
export const runLoaded = (sequences: readonly TokenSequence[], head?: VectorHead): Promise<Float32Array[]> =>
  loaded.run(sequences, head);

async function loadEngineFile({ path, modelBytes, engine, optimize = true }: EngineFile): Promise<EngineSession> {
  if (engine === "ort-node") return ortNodeEngine({ optimize }).load(fileAt(path));
  const bytes = new Uint8Array(await readFile(path));
  const [model, pages] = [bytes.subarray(0, modelBytes), bytes.subarray(modelBytes ?? bytes.length)];
  return (await engineOnThisMachine(engine)).load(oneModel(model, pages));
}

/** Returns model files for an engine that reads the file itself. */
const fileAt = (path: string): ModelFiles => ({
  path: () => path,
  size: () => statSync(path).size,
  read: () => readFile(path),
  readInto: async (_, destination) => destination.bytes().set(await readFile(path)),
  pagesSize: () => 0,
  readPages: async () => new Uint8Array(),
});

/** Bytes of an ONNX file and of its external weights. */
const bytesOnDisk = (path: string): number =>
  [path, `${path}.data`].reduce((sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0), 0);

/** Files of graphs, by folder. Graphs do not change between stages, so each graph is written once. */
const written = new WeakMap<Graph, Map<string, Promise<string>>>();

/**
 * Writes a float32 graph as an ONNX file and returns the path. The weights are in a second file, which onnxruntime maps
 * into memory instead of copying it.
 */
export function graphFile(graph: Graph, folder: string): Promise<string> {
  const files = written.get(graph) ?? new Map<string, Promise<string>>();
  written.set(graph, files);
  const file = files.get(folder) ?? write(graph, join(folder, `${crypto.randomUUID()}.onnx`));
  files.set(folder, file);
  return file;
}

async function write(graph: Graph, path: string): Promise<string> {
  await writeOnnx(path, graph, {}, { maxInlineBytes: 0 });
  return path;
}
