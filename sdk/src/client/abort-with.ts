/**
 * Aborts `controller` when `signal` aborts. Returns a function that unlinks both. `AbortSignal.any` is not enough: Node 20 can
 * garbage-collect the signal that it returns while a request waits for it.
 */
export function abortWith(controller: AbortController, signal: AbortSignal | undefined): () => void {
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  return () => signal?.removeEventListener("abort", abort);
}
