import { utf16Length } from "../../../../artifact/utf16-length.ts";
import { addOrigin, type Origins } from "../token-places.ts";

/**
 * Adds the origins of a text in NFC. Each of its characters decomposes into some characters, and the text before
 * composition decomposes into the same ones: a character comes from the part with the first of them.
 */
export function addComposed(origins: Origins, text: string, composed: string): void {
  // Start and end of the part of the text that was read last, and the decomposed characters of all parts up to it.
  let [start, end, decomposed] = [0, 0, 0];
  let done = 0;
  for (const character of composed) {
    while (decomposed <= done && end < text.length) {
      start = end;
      end += utf16Length(text.codePointAt(start) as number);
      decomposed += decomposedLength(text.slice(start, end));
    }
    addOrigin(origins, start, end, character.length);
    done += decomposedLength(character);
  }
}

const decomposedLength = (character: string): number => [...character.normalize("NFD")].length;
