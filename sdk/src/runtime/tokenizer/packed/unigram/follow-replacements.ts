import { utf16Length } from "../../../../artifact/utf16-length.ts";
import type { Origins } from "../token-places.ts";

/** Takes what a normalizer replaces: the text from `start` to `end` (exclusive) becomes `content`. */
export type OnReplaced = (start: number, end: number, content: string) => void;

/** Follows the origins of a text through the replacements of a normalizer, which come from left to right. */
export function followReplacements(text: string, origins: Origins) {
  const moved: Origins = [];
  let done = 0;
  const keep = (end: number) => {
    for (let at = 2 * done; at < 2 * end; at++) moved.push(origins[at] as number);
    done = end;
  };
  const onReplaced: OnReplaced = (start, end, content) => {
    keep(start);
    // Characters come from those that they replace, one by one; those that are left over come from the last one.
    let old = start;
    for (const character of content) {
      for (let unit = 0; unit < character.length; unit++)
        moved.push(origins[2 * old] as number, origins[2 * old + 1] as number);
      const next = old + utf16Length(text.codePointAt(old) as number);
      if (next < end) old = next;
    }
    done = end;
  };
  return {
    onReplaced,
    end: () => {
      keep(text.length);
      return moved;
    },
  };
}
