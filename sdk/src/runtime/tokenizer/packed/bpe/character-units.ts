import { utf16Length } from "../../../../artifact/utf16-length.ts";
import type { Units } from "../byte-level/merge-bytes.ts";
import { type CodePointTable, numberOf } from "../code-points.ts";
import type { IntegerArray } from "../packed-arrays.ts";

/** The tokens of single characters. */
export interface CharacterTokens {
  /** Token id of each code point, plus 1; 0 for code points that are no token. */
  readonly characters: CodePointTable;
  /** [256]: token ids of bytes, which encode code points that are no token. Empty if these become `unknown`. */
  readonly byteIds: IntegerArray;
  readonly unknown: number;
}

/**
 * Writes the token ids of a text's characters, as far as there is room.
 *
 * @param spans receives the start and the end of each token's character
 */
export function charactersInto(
  { characters, byteIds, unknown }: CharacterTokens,
  text: string,
  units: Units,
  spans?: number[],
): { read: number; written: number } {
  let [read, written] = [0, 0];
  while (read < text.length) {
    const point = text.codePointAt(read) as number;
    const token = numberOf(characters, point);
    const end = read + utf16Length(point);
    const bytes = token === 0 && byteIds.length > 0 ? encoder.encode(text.slice(read, end)) : undefined;
    const ids = bytes ? Array.from(bytes, (byte) => byteIds[byte] as number) : [token === 0 ? unknown : token - 1];
    if (written + ids.length > units.length) break;
    for (const id of ids) {
      units[written++] = id;
      spans?.push(read, end);
    }
    read = end;
  }
  return { read, written };
}

const encoder = new TextEncoder();
