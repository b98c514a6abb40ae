import { randomNumbers } from "../seeded.ts";

/** Choices that depend on a seed only. */
export class Choice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** @throws RangeError when there is nothing to choose from: the mutation does not apply */
  of<T>(items: readonly T[]): T {
    if (items.length === 0) throw new NothingToMutate();
    return items[this.below(items.length)] as T;
  }

  /** Numbers at which arithmetic goes wrong. */
  number(): bigint {
    const near = [0n, 1n, -1n, 2n, 3n, 5n, 7n, -2n, 16n, 255n, 65_536n];
    const far = [2n ** 31n - 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n), 1n << 40n];
    return this.of(this.below(3) > 0 ? near : far);
  }
}

export class NothingToMutate extends RangeError {}
