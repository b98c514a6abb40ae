import { utf16Length } from "../../../../artifact/utf16-length.ts";
import { COMBINING_SHIFT, IS_APART } from "../byte-level/code-point-flags.ts";
import { compose, partsOf } from "../byte-level/compose.ts";
import { type CodePointTable, numberOf } from "../code-points.ts";
import type { UnicodeForm } from "../packed-settings.ts";
import { createTextBuilder } from "../text-builder.ts";
import type { Origins } from "../token-places.ts";
import { withRoom } from "../with-room.ts";
import { type Changes, moveOrigins } from "./follow-replacements.ts";

/** Smallest code point that can compose with the code point before it. */
const FIRST_SECOND = 0x300;

/**
 * Converts a text to a normalization form, character by character, and follows its origins. The order of the steps is that of
 * https://github.com/n1t0/unicode-normalization/blob/master/src/recompose.rs, which Hugging Face's tokenizers use: the numbers in
 * `Changes` depend on it.
 */
export function placedForm(
  flags: CodePointTable,
  text: string,
  form: UnicodeForm,
  origins: Origins,
): [text: string, origins: Origins] {
  if (compose(flags, text, form) === text) return [text, origins];
  const decomposed = decompose(flags, text, form);
  const changes = form.endsWith("C") ? recompose(flags, decomposed) : decomposed;
  const normalized = createTextBuilder();
  for (const point of changes.points) normalized.add(String.fromCodePoint(point));
  return [normalized.end(), moveOrigins(text, origins, changes)];
}

const combiningOf = (flags: CodePointTable, point: number): number => numberOf(flags, point) >> COMBINING_SHIFT;
const isApart = (flags: CodePointTable, point: number): boolean => (numberOf(flags, point) & IS_APART) !== 0;

/** Decomposes a text, and sorts its marks by combining class. */
function decompose(flags: CodePointTable, text: string, form: UnicodeForm): Changes {
  const parts = partsOf(form);
  /** One number per character, from the highest bits on: its combining class, whether it was added, its code point. */
  let characters = new Uint32Array(text.length);
  let [length, marks] = [0, 0];
  const add = (point: number, added: number): void => {
    const combining = combiningOf(flags, point);
    if (combining === 0) endMarks();
    if (length === characters.length) characters = withRoom(characters, 2 * length);
    characters[length++] = (combining << 24) | (added << 23) | point;
    if (combining === 0) marks = length;
  };
  /** Sorts the marks after the last character of class 0. Marks of the same class keep their order. */
  const endMarks = (): void => {
    if (length - marks > 1) characters.subarray(marks, length).sort((a, b) => (a >>> 24) - (b >>> 24));
    marks = length;
  };
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) as number;
    at += utf16Length(point);
    if (isApart(flags, point)) add(point, 0);
    else {
      let added = 0;
      for (const part of String.fromCodePoint(point).normalize(parts)) {
        add(part.codePointAt(0) as number, added);
        added = 1;
      }
    }
  }
  endMarks();
  const points = characters.subarray(0, length);
  return {
    points: points.map((each) => each & 0x1fffff),
    changes: Int32Array.from(points, (each) => (each >> 23) & 1),
  };
}

/** Composes the characters of a decomposed text. Overwrites its arrays. */
function recompose(flags: CodePointTable, { points, changes }: Changes): Changes {
  let length = 0;
  /** Index of the last character of class 0, and the class of the last mark after it that did not compose; -1 if there is none. */
  let [starter, lastClass] = [-1, -1];
  for (let at = 0; at < points.length; at++) {
    const [point, change] = [points[at] as number, changes[at] as number];
    const combining = combiningOf(flags, point);
    const composes = starter >= 0 && combining > lastClass;
    const whole = composes && compositionOf(flags, points[starter] as number, point);
    if (whole) {
      points[starter] = whole;
      changes[starter] = (changes[starter] as number) + change - 1;
      continue;
    }
    if (combining === 0) [starter, lastClass] = [length, -1];
    else lastClass = combining;
    points[length] = point;
    changes[length++] = change;
  }
  return { points: points.subarray(0, length), changes: changes.subarray(0, length) };
}

/** Returns the character that two characters compose to; undefined if there is none. */
function compositionOf(flags: CodePointTable, first: number, second: number): number | undefined {
  if (second < FIRST_SECOND || isApart(flags, first) || isApart(flags, second)) return undefined;
  const whole = String.fromCodePoint(first, second).normalize("NFC");
  const point = whole.codePointAt(0) as number;
  return whole.length === utf16Length(point) ? point : undefined;
}
