import { BertEdgeClientError } from "./errors.ts";

/** Backoff before the first retry, in ms. It doubles with each retry, up to the maximum. */
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;
/** Maximum wait that the service may ask for, in ms. If it asks for a longer one, the caller gets the error instead. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Runs `attempt`, and runs it again after errors that are `retryable`. Waits half of the backoff, or as long as the service asks,
 * plus a random time of up to half of the backoff: clients that failed together must not retry together.
 *
 * @throws the last error, or the abort reason of `signal`
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { maxRetries, signal }: { maxRetries: number; signal: AbortSignal },
): Promise<T> {
  for (let retries = 0; ; retries++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof BertEdgeClientError && error.retryable) || retries >= maxRetries) throw error;
      const half = Math.min(FIRST_BACKOFF_MS * 2 ** retries, MAX_BACKOFF_MS) / 2;
      const { retryAfterMs = half } = error;
      if (retryAfterMs > MAX_RETRY_AFTER_MS) throw error;
      await pause(retryAfterMs + Math.random() * half, signal);
    }
  }
}

/** Resolves after `ms`, or as soon as `signal` aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, signal.aborted ? 0 : ms);
    signal.addEventListener("abort", end);
  });
}
