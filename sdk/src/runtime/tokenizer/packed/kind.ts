import type { Finder } from "./find-added.ts";
import type { Text } from "./split-added.ts";

/** What kinds of packed tokenizers differ in. `T` is a normalized text. */
export interface Kind<T> {
  /** Characters of the longest word that is split; infinite where there is none. */
  readonly longestWord: number;
  normalize(text: string): T;
  textOf(normalized: T): Text;
  /** Finds added tokens in a normalized text. */
  readonly findAdded: Finder<T>;
  /** Appends the ids of a part of a normalized text, one that is not empty. */
  addIds(normalized: T, start: number, end: number, ids: number[]): void;
}
