import { type CodePointTable, numberOf } from "../code-points.ts";
import { COMBINING_SHIFT, IS_APART } from "./code-point-flags.ts";

/** Characters that composition may change. A text without them is already in NFC. */
const MAY_COMPOSE = /[\u0300-\uffff]/;

/**
 * Converts a text to NFC, Unicode's composed form. Code points with `IS_APART` stay unchanged and in place, whatever
 * Unicode version the runtime has.
 */
export function compose(classes: CodePointTable, text: string): string {
  if (!MAY_COMPOSE.test(text)) return text;
  let result = "";
  let part = "";
  let marks: Mark[] = [];
  const numberOfCharacter = (character: string) => numberOf(classes, character.codePointAt(0) as number);
  for (const character of text) {
    const number = numberOfCharacter(character);
    if (number >> COMBINING_SHIFT > 0) {
      // A mark may decompose into marks of different combining classes.
      for (const mark of character.normalize("NFD")) {
        marks.push({ character: mark, combining: numberOfCharacter(mark) >> COMBINING_SHIFT });
      }
      continue;
    }
    part += inOrder(marks);
    marks = [];
    if ((number & IS_APART) !== 0) {
      result += part.normalize("NFC") + character;
      part = "";
    } else part += character;
  }
  return result + (part + inOrder(marks)).normalize("NFC");
}

interface Mark {
  readonly character: string;
  readonly combining: number;
}

/** Sorts marks by combining class. `normalize` does this too, but in quadratic time. */
const inOrder = (marks: Mark[]): string =>
  marks
    .sort((a, b) => a.combining - b.combining)
    .map(({ character }) => character)
    .join("");
