import type { SeededChoice } from "./choose.ts";
import { damagedJson, type Json } from "./damage-json.ts";

/** Deeper than the stack of a recursive function. */
const DEPTH = 20_000;
const deep = (open: string, close: string) => `${open.repeat(DEPTH)}0${close.repeat(DEPTH)}`;

/** Values that `JSON.stringify` does not write. */
const VALUES = [deep("[", "]"), deep('{"a":', "}"), "1e999", "-0", "9".repeat(400), '"\\ud800"', "NaN"];

/** Values without parts, in JSON text. */
const SCALAR = /(?<=[[:,])(?:"[^"\\]*"|-?\d[\d.]*|true|false|null)(?=[\]},])/g;

/** Damages a document, and writes it as JSON. */
export const damagedJsonText = (sound: Json, choice: SeededChoice): string =>
  jsonText(damagedJson(sound, choice), choice);

/** Writes a document as JSON. One text in 100 gets a value that only text can have. */
export function jsonText(document: Json, choice: SeededChoice): string {
  const text = JSON.stringify(document);
  if (choice.below(100) > 0) return text;
  const scalars = [...text.matchAll(SCALAR)];
  if (scalars.length === 0) return choice.of(VALUES);
  const { index, 0: scalar } = choice.of(scalars);
  return text.slice(0, index) + choice.of(VALUES) + text.slice(index + scalar.length);
}
