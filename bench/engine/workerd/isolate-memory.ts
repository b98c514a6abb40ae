import { once } from "node:events";
import type { RunningWorker } from "./running-worker.ts";

/** Bytes of an isolate after garbage collection. */
export interface IsolateMemory {
  /** Reserved size of JavaScript's heap. */
  readonly heap: number;
  /** Memory that workerd uses for its own objects. */
  readonly embedder: number;
  /** Size of all array buffers, including WebAssembly memory. */
  readonly buffers: number;
  /** Size of the largest array buffer. */
  readonly largestBuffer: number;
}

/** Maximum time per command: the snapshot of a large heap takes seconds. */
const DEADLINE_MS = 60_000;

interface HeapUsage {
  readonly totalSize: number;
  readonly embedderHeapUsedSize: number;
}

/**
 * Reads the memory of an isolate from the inspector. The inspector's `Runtime.getHeapUsage` does not include
 * WebAssembly memory, so the sizes of the array buffers are read from a heap snapshot.
 */
export async function isolateMemory(worker: Pick<RunningWorker, "inspector" | "health">): Promise<IsolateMemory> {
  const socket = new WebSocket(await worker.inspector());
  await once(socket, "open");
  const answers = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  const chunks: string[] = [];
  socket.addEventListener("message", ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(data);
    if (method === "HeapProfiler.addHeapSnapshotChunk") chunks.push(params.chunk);
    else if (error) answers.get(id)?.reject(new Error(error.message));
    else answers.get(id)?.resolve(result);
  });
  const send = async (method: string, params: object = {}): Promise<unknown> => {
    const id = answers.size + 1;
    const answered = new Promise<unknown>((resolve, reject) => answers.set(id, { resolve, reject }));
    socket.send(JSON.stringify({ id, method, params }));
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`${method} was not answered within ${DEADLINE_MS} ms.`)),
      DEADLINE_MS,
    );
    try {
      let isAnswered = false;
      const waiting = answered.finally(() => {
        isAnswered = true;
      });
      // Keep sending requests: the isolate runs inspector commands only during a request, and one request may end
      // before the command arrives.
      while (!isAnswered) await Promise.race([waiting, worker.health(), late.promise]);
      return await answered;
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    await send("HeapProfiler.collectGarbage");
    const usage = (await send("Runtime.getHeapUsage")) as HeapUsage;
    await send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
    const buffers = buffersIn(chunks.join(""));
    return {
      heap: usage.totalSize,
      embedder: usage.embedderHeapUsedSize,
      buffers: buffers.reduce((sum, bytes) => sum + bytes, 0),
      largestBuffer: Math.max(...buffers),
    };
  } finally {
    socket.close();
  }
}

interface Snapshot {
  readonly snapshot: { readonly meta: { readonly node_fields: readonly string[] } };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Returns the sizes of all array buffers in a snapshot, in bytes. */
function buffersIn(text: string): number[] {
  const { snapshot, nodes, strings } = JSON.parse(text) as Snapshot;
  const { node_fields: fields } = snapshot.meta;
  const [name, size] = [fields.indexOf("name"), fields.indexOf("self_size")];
  const sizes: number[] = [];
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (strings[nodes[at + name] as number] === "system / JSArrayBufferData") sizes.push(nodes[at + size] as number);
  }
  return sizes;
}
