import { shown } from "../../../artifact/shown.ts";
import type { FileFaults } from "../../files/stored-file.ts";
import { PickledDict, type PickledValue } from "./values.ts";

/** Attribute of a state dict that PyTorch saves with it: the versions of its modules' formats. */
const METADATA = "_metadata";

/** The stack and the memo of a pickle. */
export class PickleMachine {
  readonly #faults: FileFaults;
  /** Outer stacks, one for each open mark. `#stack` has the values after the last mark. */
  readonly #stacks: PickledValue[][] = [];
  #stack: PickledValue[] = [];
  readonly #memo = new Map<number, PickledValue>();

  constructor(faults: FileFaults) {
    this.#faults = faults;
  }

  push(value: PickledValue): void {
    this.#stack.push(value);
  }

  /** Removes the last `count` values. */
  pop(count: number): PickledValue[] {
    if (this.#stack.length < count) throw this.#damaged();
    return this.#stack.splice(-count);
  }

  mark(): void {
    this.#stacks.push(this.#stack);
    this.#stack = [];
  }

  popToMark(): PickledValue[] {
    const outer = this.#stacks.pop();
    if (!outer) throw this.#damaged();
    const values = this.#stack;
    this.#stack = outer;
    return values;
  }

  remember(index: number): void {
    this.#memo.set(index, this.#top());
  }

  recall(index: number): void {
    const value = this.#memo.get(index);
    if (value === undefined) throw this.#damaged();
    this.push(value);
  }

  /** Adds keys and values to the dict on top of the stack. */
  setItems(items: readonly PickledValue[]): void {
    const dict = this.#dict();
    if (items.length % 2 !== 0) throw this.#damaged();
    for (let i = 0; i < items.length; i += 2) {
      const key = items[i];
      if (typeof key !== "string") throw this.#faults.unsupported("has a dict with a key that is not a text");
      if (dict.has(key)) throw this.#faults.invalid(`its pickle has two values for ${shown(key)}`);
      dict.set(key, items[i + 1] as PickledValue);
    }
  }

  /**
   * Removes the attributes on top of the stack, which belong to the dict below them. Refuses attributes other than `_metadata`,
   * which state dicts have and which says nothing about tensors.
   */
  build(): void {
    const [state] = this.pop(1);
    this.#dict();
    const isMetadata = state instanceof PickledDict && state.size === 1 && state.has(METADATA);
    if (!isMetadata) throw this.#faults.unsupported(`sets other attributes than ${METADATA}`);
  }

  /** Returns the only value that is left. */
  result(): PickledValue {
    if (this.#stacks.length > 0 || this.#stack.length !== 1) throw this.#damaged();
    return this.#top();
  }

  #top(): PickledValue {
    const top = this.#stack.at(-1);
    if (top === undefined) throw this.#damaged();
    return top;
  }

  #dict(): PickledDict {
    const top = this.#top();
    if (top instanceof PickledDict) return top;
    throw this.#faults.invalid("its pickle adds to something that is not a dict");
  }

  #damaged(): Error {
    return this.#faults.invalid("its pickle is damaged");
  }
}
