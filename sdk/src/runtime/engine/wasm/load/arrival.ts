/** How a transfer and those who wait for it speak. */
export interface Progress {
  /** Told how many bytes have come, whenever there are more. What it throws stops the transfer. */
  checked(count: number): void;
  /** Awaited after every piece. */
  turn(): Promise<void> | undefined;
}

/** A file on its way. */
export interface Arrival {
  /** Resolves when all of it has come. */
  readonly complete: Promise<void>;
  /**
   * Waits until so many bytes, from the first one on, have come, or all that there are.
   *
   * @throws what the transfer failed with, if that was before them
   */
  reach(bytes: number): Promise<void>;
  /** Lets what is still to come wait, since the thread has something better to do: once for every time that more has come. */
  pause(ms: number): void;
  /** Lets a transfer that is under way fail with `reason` when more has come, and those who wait for that at once. */
  stop(reason: unknown): void;
}

export function arriving(transfer: (progress: Progress) => Promise<void>): Arrival {
  let count = 0;
  let pauseMs = 0;
  let mayPause = true;
  let stopped: { readonly reason: unknown } | undefined;
  let more = Promise.withResolvers<void>();
  const stopping = Promise.withResolvers<never>();
  const checked = (bytes: number) => {
    if (stopped) throw stopped.reason;
    count = bytes;
    mayPause = true;
    more.resolve();
    more = Promise.withResolvers();
  };
  // Only here, since on Workers a timer ends with the request that started it.
  const turn = () => {
    if (pauseMs === 0) return undefined;
    const pause = new Promise<void>((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = 0;
    return pause;
  };
  const complete = transfer({ checked, turn }).then(() => checked(Number.POSITIVE_INFINITY));
  // Those who wait for bytes hear of both.
  complete.catch(() => {});
  stopping.promise.catch(() => {});
  return {
    complete,
    async reach(bytes) {
      while (count < bytes) await Promise.race([more.promise, complete, stopping.promise]);
    },
    pause(ms) {
      if (!mayPause) return;
      mayPause = false;
      pauseMs = ms;
    },
    stop(reason) {
      stopped ??= { reason };
      stopping.reject(reason);
    },
  };
}
