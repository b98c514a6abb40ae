import { BertEdgeError } from "../artifact/error.ts";
import type { Deliver } from "../artifact/fill.ts";
import { withDeadline } from "../artifact/with-deadline.ts";
import { pieceReader } from "./piece-reader.ts";
import { storageError } from "./storage-error.ts";
import type { ByteRange, ObjectStore } from "./store.ts";

/**
 * Reads an object and passes its bytes to `deliver`, in order. The next piece is read after the promise of `deliver` settles.
 * After the store's time limit, or when `deliver` throws, the transfer is aborted and nothing more is delivered.
 *
 * @param range the bytes to read. Default: the whole object
 * @returns false when there is no object under `key`
 * @throws BertEdgeError `storage_unavailable`, and what `deliver` throws
 */
export async function receive(store: ObjectStore, key: string, deliver: Deliver, range?: ByteRange): Promise<boolean> {
  const { name, timeoutMs = 30_000 } = store;
  const controller = new AbortController();
  const late = () => storageError(name, key, `reading took longer than ${timeoutMs} ms`);
  try {
    return await withDeadline(transfer(store, key, deliver, controller.signal, range), timeoutMs, late);
  } catch (error) {
    controller.abort(error);
    throw error;
  }
}

async function transfer(
  store: ObjectStore,
  key: string,
  deliver: Deliver,
  signal: AbortSignal,
  range: ByteRange | undefined,
): Promise<boolean> {
  const body = await reading(store, key, () => store.open(key, signal, range));
  if (!body) return false;
  const reader = pieceReader(body);
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  for (;;) {
    const { value, done } = await reading(store, key, () => reader.read());
    signal.throwIfAborted();
    if (value?.length) await deliver(value);
    if (done) return true;
  }
}

/** Awaits `work`, and turns an error of a driver into a BertEdgeError that names store and object. */
async function reading<T>({ name }: ObjectStore, key: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof BertEdgeError ? error : storageError(name, key, String(error), { cause: error });
  }
}
