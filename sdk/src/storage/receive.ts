import { BertEdgeError } from "../artifact/error.ts";
import type { Deliver } from "../artifact/fill.ts";
import { withDeadline } from "../artifact/with-deadline.ts";
import { pieceReader } from "./piece-reader.ts";
import { storageError } from "./storage-error.ts";
import type { ObjectStore } from "./store.ts";

/**
 * Hands all bytes of an object to `deliver`, in order; the next ones are read when its promise is settled. The transfer is
 * stopped, and the store told so, when it is late or `deliver` throws; nothing is delivered after that.
 *
 * @returns false when there is no object under `key`
 * @throws BertEdgeError `storage_unavailable`, and what `deliver` throws
 */
export async function receive(store: ObjectStore, key: string, deliver: Deliver): Promise<boolean> {
  const { name, timeoutMs = 30_000 } = store;
  const given = new AbortController();
  const late = () => storageError(name, key, `it was not read to its end within ${timeoutMs} ms`);
  try {
    return await withDeadline(transfer(store, key, deliver, given.signal), timeoutMs, late);
  } catch (error) {
    given.abort(error);
    throw error;
  }
}

async function transfer(store: ObjectStore, key: string, deliver: Deliver, up: AbortSignal): Promise<boolean> {
  const body = await named(store, key, () => store.open(key, up));
  if (!body) return false;
  const reader = pieceReader(body);
  const cancel = () => void reader.cancel(up.reason).catch(() => {});
  if (up.aborted) cancel();
  else up.addEventListener("abort", cancel, { once: true });
  for (;;) {
    const { value, done } = await named(store, key, () => reader.read());
    up.throwIfAborted();
    if (value?.length) await deliver(value);
    if (done) return true;
  }
}

/** Whatever a driver or its stream throws, as the error that names store and object. */
async function named<T>({ name }: ObjectStore, key: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof BertEdgeError ? error : storageError(name, key, String(error), error);
  }
}
