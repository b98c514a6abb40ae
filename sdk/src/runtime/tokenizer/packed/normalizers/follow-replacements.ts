import { utf16Length } from "../../../../artifact/utf16-length.ts";
import { addOrigin, type Origins } from "../token-places.ts";

/** Called for each replacement of a normalizer: the text from `start` to `end` (exclusive) becomes `content`. */
export type OnReplaced = (start: number, end: number, content: string) => void;

/** Follows the origins of a text through the replacements of a normalizer, which come from left to right. */
export type FollowOrigins = (
  text: string,
  origins: Origins,
) => {
  readonly onReplaced: OnReplaced;
  /** Returns the origins of the normalized text. */
  end(): Origins;
};

/** Maps new characters to the replaced characters, one by one. New characters that are left over come from the last replaced one. */
export const followReplacements: FollowOrigins = (text, origins) => {
  const moved: Origins = [];
  let done = 0;
  const keep = (end: number) => {
    for (let at = 2 * done; at < 2 * end; at++) moved.push(origins[at] as number);
    done = end;
  };
  return {
    onReplaced(start, end, content) {
      keep(start);
      let old = start;
      for (const character of content) {
        addOrigin(moved, origins[2 * old] as number, origins[2 * old + 1] as number, character.length);
        const next = old + utf16Length(text.codePointAt(old) as number);
        if (next < end) old = next;
      }
      done = end;
    },
    end: () => {
      if (done === 0) return origins;
      keep(text.length);
      return moved;
    },
  };
};

/**
 * The characters of a normalized text, and a number for each: 1 adds a character, 0 replaces the next one of the old text, and -n
 * replaces the next one and removes the n characters after it. Hugging Face's Rust tokenizers count like this:
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/tokenizer/normalizer.rs, `transform_range`
 */
export interface Changes {
  readonly points: Uint32Array<ArrayBuffer>;
  readonly changes: Int32Array<ArrayBuffer>;
}

/** Returns the origins after some changes. An added character has the origin of the old character before it. */
export function moveOrigins(text: string, origins: Origins, { points, changes }: Changes): Origins {
  const moved: Origins = [];
  let next = 0;
  for (let i = 0; i < changes.length; i++) {
    const change = changes[i] as number;
    const from = change > 0 ? next - 1 : next;
    addOrigin(moved, origins[2 * from] ?? 0, origins[2 * from + 1] ?? 0, utf16Length(points[i] as number));
    for (let old = change; old <= 0; old++) next += utf16Length(text.codePointAt(next) ?? 0);
  }
  return moved;
}

/**
 * Follows replacements as the normalizer `Precompiled` of Hugging Face does. It counts removed characters at the character before
 * them, even if this character was added. At the start of a text, removed characters are not counted. Then later characters can
 * have the place of an earlier one.
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/normalizers/precompiled.rs
 */
export const followChanges: FollowOrigins = (text, origins) => {
  const points: number[] = [];
  const changes: number[] = [];
  let done = 0;
  const add = (part: string): void => {
    for (const character of part) changes[points.push(character.codePointAt(0) as number) - 1] = 0;
  };
  return {
    onReplaced(start, end, content) {
      add(text.slice(done, start));
      const before = points.length;
      add(content);
      const difference = points.length - before - [...text.slice(start, end)].length;
      const last = points.length - 1;
      for (let i = 0; i < difference; i++) changes[last - i] = 1;
      if (difference < 0 && last >= 0) changes[last] = (changes[last] as number) + difference;
      done = end;
    },
    end() {
      if (done === 0) return origins;
      add(text.slice(done));
      return moveOrigins(text, origins, { points: Uint32Array.from(points), changes: Int32Array.from(changes) });
    },
  };
};
