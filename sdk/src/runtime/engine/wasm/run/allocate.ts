import { BertEdgeError } from "../../../../artifact/error.ts";
import { pagesFor } from "./memory-map.ts";

/** Maximum pages of a memory with 32-bit pointers. */
const MAX_PAGES = 65_536;

/** Creates a memory of at least `bytes` bytes. @throws BertEdgeError `memory_full` */
export function allocate(bytes: number): WebAssembly.Memory {
  return attempt(bytes, () => new WebAssembly.Memory({ initial: pagesFor(bytes), maximum: MAX_PAGES }));
}

/**
 * Grows a memory to at least `bytes` bytes. Growing detaches all views of the memory.
 *
 * @throws BertEdgeError `memory_full`; the memory is then unchanged
 */
export function ensure(memory: WebAssembly.Memory, bytes: number): void {
  const missing = pagesFor(bytes) - pagesFor(memory.buffer.byteLength);
  if (missing > 0) attempt(bytes, () => memory.grow(missing));
}

function attempt<T>(bytes: number, get: () => T): T {
  try {
    return get();
  } catch (cause) {
    throw new BertEdgeError("memory_full", `Cannot allocate ${Math.ceil(bytes / 2 ** 20)} MiB of WebAssembly memory.`, {
      hint: "Send shorter texts, prepare the model with --table int4 or --max-memory, or serve this model only from a region.",
      cause,
    });
  }
}
