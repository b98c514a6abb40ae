/** Time limits of a request. */
export interface TimeLimits {
  /** Longest time without a byte, in ms. */
  readonly silenceMs: number;
  /** Slowest transfer of a body, in bytes per second. */
  readonly bytesPerSecond: number;
}

export const defaultTimeLimits: TimeLimits = { silenceMs: 30_000, bytesPerSecond: 16 * 1024 };

/** Assumed size of a body whose length is not known, in bytes. Lists of files have less than 1 MB. */
const UNKNOWN_LENGTH = 2 ** 20;

/** Aborts a request that takes too long: before the response, between two pieces of the body, or as a whole. */
export class RequestDeadline {
  readonly #limits: TimeLimits;
  readonly #controller = new AbortController();
  #silence: NodeJS.Timeout | undefined;
  #whole: NodeJS.Timeout | undefined;

  constructor(limits: TimeLimits) {
    this.#limits = limits;
    this.arrived();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sets the time limit for the whole body. @param length bytes of the body, if known */
  begin(length: number | undefined): void {
    const { silenceMs, bytesPerSecond } = this.#limits;
    const seconds = (length ?? UNKNOWN_LENGTH) / bytesPerSecond;
    this.#whole = this.#abortAfter(silenceMs + 1000 * seconds, `sent less than ${bytesPerSecond} bytes per second`);
  }

  /** Notes that bytes have arrived. */
  arrived(): void {
    clearTimeout(this.#silence);
    const { silenceMs } = this.#limits;
    this.#silence = this.#abortAfter(silenceMs, `sent nothing for ${silenceMs / 1000} s`);
  }

  stop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#whole);
  }

  #abortAfter(ms: number, what: string): NodeJS.Timeout {
    // Timers take at most 2³¹ − 1 ms.
    return setTimeout(() => this.#controller.abort(what), Math.min(ms, 2 ** 31 - 1));
  }
}
