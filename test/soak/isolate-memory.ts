import { once } from "node:events";

/** The memory of an isolate, as V8's inspector counts it, in bytes. */
export interface IsolateMemory {
  /** JavaScript objects. */
  readonly heap: number;
  /** ArrayBuffers and WebAssembly memories. */
  readonly buffers: number;
  /** What the runtime itself holds for the isolate. */
  readonly embedder: number;
}

/** Largest isolate of Cloudflare: https://developers.cloudflare.com/workers/platform/limits/#memory */
export const ISOLATE_LIMIT = 128 * 1024 * 1024;

export const sumOf = ({ heap, buffers, embedder }: IsolateMemory): number => heap + buffers + embedder;

/** A connection to the inspector of a process, over the Chrome DevTools protocol. */
export interface Inspector {
  /** Collects garbage, and then measures. */
  measure(): Promise<IsolateMemory>;
  /** Measures, garbage included. */
  glance(): Promise<IsolateMemory>;
  close(): void;
}

const DEADLINE_MS = 30_000;

/**
 * Connects to an isolate.
 *
 * @param origin address of the process's inspector
 * @param isWanted chooses an isolate by its title
 * @param wake makes the isolate do something. workerd collects garbage only then
 */
export async function connectInspector(
  origin: string,
  isWanted: (title: string) => boolean,
  wake: () => Promise<unknown>,
): Promise<Inspector> {
  const response = await fetch(`${origin}/json/list`, { signal: AbortSignal.timeout(DEADLINE_MS) });
  const targets = (await response.json()) as { title: string; webSocketDebuggerUrl: string }[];
  const target = targets.find(({ title }) => isWanted(title));
  if (!target) throw new Error(`The inspector lists ${targets.map(({ title }) => title)}.`);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await once(socket, "open", { signal: AbortSignal.timeout(DEADLINE_MS) });
  const waiting = new Map<number, (result: Record<string, number>) => void>();
  const closed = once(socket, "close").then(() => Promise.reject(new Error("The inspector's process has ended.")));
  closed.catch(() => {});
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result: Record<string, number> };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  let last = 0;
  const call = (method: string): Promise<Record<string, number>> => Promise.race([closed, answerTo(method)]);
  const answerTo = (method: string): Promise<Record<string, number>> =>
    new Promise((resolve, reject) => {
      const id = ++last;
      const timer = setTimeout(() => reject(new Error(`${method} was not answered.`)), DEADLINE_MS);
      waiting.set(id, (result) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(result);
      });
      socket.send(JSON.stringify({ id, method }));
    });
  await call("HeapProfiler.enable");
  const glance = async (): Promise<IsolateMemory> => {
    const { usedSize = 0, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await call("Runtime.getHeapUsage");
    return { heap: usedSize, buffers: backingStorageSize, embedder: embedderHeapUsedSize };
  };
  return {
    glance,
    async measure() {
      const collected = call("HeapProfiler.collectGarbage").then(() => true);
      // A request that the isolate gets before the call does not wake it for the call.
      const woken = () => wake().then(() => false);
      while (!(await Promise.race([collected, woken()])));
      return glance();
    },
    close: () => socket.close(),
  };
}
