import type { Tensor } from "../graph/tensor.ts";

/**
 * Tensors that every model of some families has, and that change no result: buffers, and the pooler, which only classifiers
 * of some families read. transformers does not report them either.
 */
const WITHOUT_EFFECT = /(^|\.)(position_ids|token_type_ids|inv_freq|pooler(\.dense)?\.(weight|bias))$/;

/** A checkpoint's tensors, which know which of them were read. */
export class WatchedTensors extends Map<string, Tensor> {
  readonly #read = new Set<string>();

  override get(name: string): Tensor | undefined {
    this.#read.add(name);
    return super.get(name);
  }

  /** Names of the tensors that were not read, sorted. Those that change no result are left out. */
  get unread(): string[] {
    return [...this.keys()].filter((name) => !this.#read.has(name) && !WITHOUT_EFFECT.test(name)).sort();
  }
}
