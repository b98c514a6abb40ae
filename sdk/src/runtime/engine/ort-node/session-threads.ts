import type { InferenceSession } from "onnxruntime-common";
import { BertEdgeError } from "../../../artifact/error.ts";
import { sessionReleased } from "../engine-error.ts";
import type { OrtSession } from "../ort-run.ts";
import { nodeThread } from "../threads/node-thread.ts";
import { type Member, openPool } from "../threads/pool.ts";
import { openThread } from "../threads/thread.ts";
import { LOG_LEVEL } from "./onnxruntime-node.ts";
import { SESSION_THREAD } from "./session-thread.ts";

/** A task of a thread: to load a session, or to run it. */
type OrtTask =
  | { readonly model: Uint8Array | string; readonly options: InferenceSession.SessionOptions }
  | { readonly feeds: Record<string, Values>; readonly output: string };

type OrtAnswer = Names | Values | { readonly error: string };

type Names = Pick<OrtSession, "inputNames" | "outputNames">;

/** Numbers and shape of a tensor. A thread cannot receive the tensor itself. */
interface Values {
  readonly data: unknown;
  readonly dims: readonly number[];
}

interface SessionThread extends Member, Names {
  run(feeds: Record<string, Values>, output: string): Promise<Values>;
}

export interface SessionThreadsOptions {
  /** Number of sessions. Each has its own thread, and its own copy of the weights. */
  readonly size: number;
  /** The bytes of a model file, or its path. */
  readonly model: Uint8Array | string;
  readonly options: InferenceSession.SessionOptions;
}

/**
 * Loads a model several times, each time in a thread of its own. Each call runs in a thread that is idle; the calling thread
 * stays free. If a thread has ended, the next call starts another one.
 *
 * @throws the errors of onnxruntime
 */
export async function sessionThreads({ size, model, options }: SessionThreadsOptions): Promise<OrtSession> {
  const pool = await openPool({ size, open: () => sessionThread({ model, options }) });
  const { inputNames, outputNames } = [...pool.members][0] as SessionThread;
  return {
    inputNames,
    outputNames,
    async run(feeds, [output]) {
      const [values] = await pool.run([(thread: SessionThread) => thread.run(feeds, output)]);
      return { [output]: values as Values };
    },
    release: pool.release,
  };
}

async function sessionThread(load: OrtTask): Promise<SessionThread> {
  const onnxruntime = loadedFile();
  const options = { workerData: { onnxruntime, logLevel: LOG_LEVEL } };
  const thread = openThread(nodeThread<OrtTask, OrtAnswer>(SESSION_THREAD, options), threadFailed);

  async function ask<Answer extends OrtAnswer>(task: OrtTask): Promise<Answer> {
    const answer = await thread.ask(task);
    if ("error" in answer) throw new Error(answer.error);
    return answer as Answer;
  }

  try {
    const { inputNames, outputNames } = await ask<Names>(load);
    return {
      inputNames,
      outputNames,
      run: (feeds, output) => ask<Values>({ feeds: copiesOf(feeds), output }),
      isAlive: thread.isAlive,
      release: () => thread.end(sessionReleased()),
    };
  } catch (error) {
    await thread.end(sessionReleased());
    throw error;
  }
}

/**
 * Returns the path of the onnxruntime-node module that this process has loaded, so that threads load the same module. Searches the
 * cache of loaded modules: to resolve the package's name, Node needs the path of this file, which is unknown in a bundle.
 */
function loadedFile(): string {
  // Not imported, because bundlers would treat the result of an imported createRequire as their own `require`.
  const { createRequire } = process.getBuiltinModule("node:module");
  const file = Object.keys(createRequire(process.execPath).cache).find((path) => ONNXRUNTIME.test(path));
  if (file) return file;
  throw new BertEdgeError("package_bundled", "onnxruntime-node is part of the bundle, so threads cannot load it.", {
    hint: "Keep onnxruntime-node out of the bundle, and install it where the program runs. esbuild: --external:onnxruntime-node.",
  });
}
const ONNXRUNTIME = /[\\/]onnxruntime-node[\\/]dist[\\/]index\.js$/;

/** Copies the numbers, because posting a view would copy the whole buffer of the view. */
const copiesOf = (feeds: Record<string, Values>): Record<string, Values> =>
  Object.fromEntries(
    Object.entries(feeds).map(([name, { data, dims }]) => [name, { data: (data as BigInt64Array).slice(), dims }]),
  );

const threadFailed = (cause: unknown): BertEdgeError =>
  new BertEdgeError("worker_failed", `A thread of onnxruntime-node ended unexpectedly: ${cause}.`, {
    hint: "The next call starts another thread. If this happens again, check the memory: each session has its own weights.",
    cause,
  });
