import { utf16Length } from "../../../../artifact/utf16-length.ts";
import { type CodePointTable, numberOf } from "../code-points.ts";
import type { UnicodeForm } from "../packed-settings.ts";
import { createTextBuilder } from "../text-builder.ts";
import { COMBINING_SHIFT, IS_APART } from "./code-point-flags.ts";

/** Characters that composition may change. A text without them is already in NFC. */
const MAY_COMPOSE = /[\u0300-\uffff]/;
/** Characters that the forms other than NFC may change. */
const MAY_CHANGE = /[\u00a0-\uffff]/;

/**
 * Converts a text to one of Unicode's normalization forms: https://www.unicode.org/reports/tr15/. The default is NFC, the
 * composed form. Code points with `IS_APART` stay unchanged and in place, whatever Unicode version the runtime has.
 */
export function compose(classes: CodePointTable, text: string, form: UnicodeForm = "NFC"): string {
  if (!(form === "NFC" ? MAY_COMPOSE : MAY_CHANGE).test(text)) return text;
  const ordered = inOrder(classes, text, partsOf(form));
  const composed = createTextBuilder();
  let done = 0;
  for (let at = 0; at < ordered.length; at++) {
    const point = ordered.codePointAt(at) as number;
    const start = at;
    if (point > 0xffff) at++;
    const number = numberOf(classes, point);
    if (number >> COMBINING_SHIFT > 0 || (number & IS_APART) === 0) continue;
    composed.add(ordered.slice(done, start).normalize(form));
    composed.add(String.fromCodePoint(point));
    done = at + 1;
  }
  composed.add(ordered.slice(done).normalize(form));
  return composed.end();
}

/** Returns the decomposed form that the conversion to a form begins with. */
export const partsOf = (form: UnicodeForm): "NFD" | "NFKD" => (form.includes("K") ? "NFKD" : "NFD");

/** Sorts the marks of a text by combining class. `normalize` does this too, but in quadratic time. */
function inOrder(classes: CodePointTable, text: string, parts: "NFD" | "NFKD"): string {
  const ordered = createTextBuilder();
  let done = 0;
  for (let at = 0; at < text.length; ) {
    const start = at;
    let last = 0;
    let isOrdered = true;
    for (const mark of marksFrom(classes, text, at, parts)) {
      at = mark.end;
      if (mark.combining < last) isOrdered = false;
      last = mark.combining;
    }
    if (!isOrdered) {
      ordered.add(text.slice(done, start));
      addSorted(marksFrom(classes, text, start, parts), ordered.add);
      done = at;
    }
    if (at === start) at += utf16Length(text.codePointAt(at) as number);
  }
  if (done === 0) return text;
  ordered.add(text.slice(done));
  return ordered.end();
}

interface Mark {
  readonly point: number;
  readonly combining: number;
  /** Index in the text after the character that decomposes into this mark. */
  readonly end: number;
}

/** Lists the decomposed marks from `at` to the next base character. A mark may decompose into marks of different combining classes. */
function* marksFrom(classes: CodePointTable, text: string, at: number, parts: "NFD" | "NFKD"): Generator<Mark> {
  const combiningOf = (point: number) => numberOf(classes, point) >> COMBINING_SHIFT;
  for (let start = at; start < text.length; ) {
    const whole = text.codePointAt(start) as number;
    if (combiningOf(whole) === 0) return;
    const end = start + utf16Length(whole);
    for (const mark of text.slice(start, end).normalize(parts)) {
      const point = mark.codePointAt(0) as number;
      yield { point, combining: combiningOf(point), end };
    }
    start = end;
  }
}

/** Adds marks by combining class. Marks of the same class keep their order. */
function addSorted(marks: Iterable<Mark>, add: (part: string) => void): void {
  const points = new Map<number, number[]>();
  for (const { point, combining } of marks) {
    const same = points.get(combining);
    if (same) same.push(point);
    else points.set(combining, [point]);
  }
  for (const [, same] of [...points].sort(([a], [b]) => a - b)) {
    for (const point of same) add(String.fromCodePoint(point));
  }
}
