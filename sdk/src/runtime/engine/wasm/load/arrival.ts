/** Callbacks that a transfer calls while the file arrives. */
export interface TransferCallbacks {
  /**
   * Called with the number of bytes that have arrived and been checked, and the number that have arrived. When it throws, the transfer
   * stops.
   */
  checked(count: number, filled: number): void;
  /** Called after every piece of the file. The transfer waits for the returned promise. */
  turn(): Promise<void> | undefined;
}

/** A file that is being transferred. */
export interface Arrival {
  /** Resolves when the whole file has arrived. */
  readonly complete: Promise<void>;
  /**
   * Waits until the first `bytes` bytes of the file have arrived. If the file is shorter, waits for the whole file.
   *
   * @throws the transfer's error if the transfer fails first, and the reason of `stop` if `stop` is called first
   */
  reach(bytes: number): Promise<void>;
  /** Pauses the transfer after its next piece, at most once per piece, so that the thread can do other work. */
  pause(ms: number): void;
  /**
   * Stops the transfer. Pending calls of `reach` fail with `reason` at once. The transfer itself fails with `reason` at its
   * next piece.
   */
  stop(reason: unknown): void;
}

/** @param onChecked called before the waits for these bytes end. An error that it throws stops the transfer and all waits */
export function arriving(
  transfer: (progress: TransferCallbacks) => Promise<void>,
  onChecked: TransferCallbacks["checked"] = () => {},
): Arrival {
  let count = 0;
  let pauseMs = 0;
  let mayPause = true;
  let stopped: { readonly reason: unknown } | undefined;
  let more = Promise.withResolvers<void>();
  const stopping = Promise.withResolvers<never>();
  const stop = (reason: unknown) => {
    stopped ??= { reason };
    // After the transfer, nobody waits for this promise, so it stays pending. A Worker warns if another request rejects a promise.
    if (count < Number.POSITIVE_INFINITY) stopping.reject(reason);
  };
  const checked = (bytes: number, filled: number) => {
    if (stopped) throw stopped.reason;
    try {
      onChecked(bytes, filled);
    } catch (error) {
      stop(error);
      throw error;
    }
    count = bytes;
    mayPause = true;
    more.resolve();
    more = Promise.withResolvers();
  };
  // The timer starts here, not in `pause`. On Workers, a timer ends with the request that started it, and `pause` may
  // be called by another request, which can end before the timer.
  const turn = () => {
    if (pauseMs === 0) return undefined;
    const pause = new Promise<void>((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = 0;
    return pause;
  };
  const complete = transfer({ checked, turn }).then(() => checked(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY));
  // Prevents warnings about unhandled rejections. `reach` reports the errors of both promises.
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
    stop,
  };
}
