import { type CodePointTable, numberOf } from "../code-points.ts";
import { COMBINING_SHIFT, IS_APART } from "./code-point-flags.ts";

/** Characters that composing may change; a text without any is in NFC already. */
const MAY_COMPOSE = /[\u0300-\uffff]/;

/**
 * Brings a text into NFC. Code points that are `IS_APART` stay between their neighbours, whichever Unicode version the runtime
 * has.
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
      // A mark may decompose into marks of different classes.
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

/** Sorts marks by their class. `normalize` does so too, but in time quadratic in their number. */
const inOrder = (marks: Mark[]): string =>
  marks
    .sort((a, b) => a.combining - b.combining)
    .map(({ character }) => character)
    .join("");
