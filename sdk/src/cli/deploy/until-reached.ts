import { setTimeout as sleep } from "node:timers/promises";

/** A new workers.dev address needs some seconds until it is known everywhere. */
const WITHIN_MS = 60_000;
const POLL_MS = 1_000;

/** Waits until something of bert-edge answers at a URL, or a minute has passed: the check then says what is wrong. */
export async function untilReached(url: string): Promise<void> {
  const giveUpAt = performance.now() + WITHIN_MS;
  while (performance.now() < giveUpAt) {
    const answer = await fetch(new URL("/health", url), { signal: AbortSignal.timeout(POLL_MS * 5) }).catch(
      () => undefined,
    );
    await answer?.body?.cancel();
    if (answer?.ok) return;
    await sleep(POLL_MS);
  }
}
