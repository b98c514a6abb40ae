import { NothingToMutate, type SeededChoice } from "./choose.ts";

export type Json = null | string | number | boolean | Json[] | { [name: string]: Json };
type Path = readonly (string | number)[];

/** Values that parsers often forget. */
const NUMBERS = [-1, 0, 0.5, 1, 2, 3, 4, 8, 12, 16, 1e9, 2 ** 31, 2 ** 32, 2 ** 50, 2 ** 53, 1e300, -1e30];
const TEXTS = [
  "",
  "x",
  "..",
  "../../x",
  "__proto__",
  "constructor",
  "\u0000",
  "\ud800",
  "😀",
  "a".repeat(300),
  "1",
  "null",
];

/** Makes one change to a document, in place. */
export type Change = (document: Json, choice: SeededChoice) => void;

const changes: readonly Change[] = [
  // Replaces a value with an unrelated one.
  (document, choice) => {
    const others: Json[] = [null, [], {}, true, { value: 99 }, { value: 0 }, choice.of(TEXTS), choice.of(NUMBERS)];
    replace(document, choice.of(paths(document)), () => choice.of(others));
  },
  // Removes a value.
  (document, choice) => {
    const path = choice.of(paths(document));
    const parent = at(document, path.slice(0, -1));
    if (Array.isArray(parent)) parent.splice(Number(path.at(-1)), 1);
    else if (parent !== null && typeof parent === "object") delete parent[path.at(-1) as string];
  },
  // Replaces a number with a similar one.
  (document, choice) => {
    const numbers = paths(document).filter((path) => typeof at(document, path) === "number");
    replace(document, choice.of(numbers), (old) => {
      const number = old as number;
      return choice.of([number - 1, number + 1, number - 4, number + 4, number + 8, 2 * number, number / 2, -number]);
    });
  },
  // Replaces a value with a copy of another value that has the same key or the same depth.
  (document, choice) => {
    const all = paths(document);
    const path = choice.of(all);
    const alike = all.filter((other) => other.at(-1) === path.at(-1) || other.length === path.length);
    replace(document, path, () => structuredClone(at(document, choice.of(alike))));
  },
  // Adds a value under a name that every object has already.
  (document, choice) => {
    const objects = paths(document).filter((path) => isObject(at(document, path)));
    const name = choice.of(["__proto__", "constructor", "toString"]);
    const value = choice.of<Json>([null, 1, { polluted: true }]);
    Object.defineProperty(at(document, choice.of(objects)), name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  },
];

/** Makes one to three changes to a copy of a document. Some changes may have nothing to change. */
export function damagedJson<T extends Json>(sound: T, choice: SeededChoice, further: readonly Change[] = []): Json {
  const document = { root: structuredClone(sound) as Json };
  for (let count = 1 + choice.below(3); count > 0; count--) {
    try {
      choice.of([...changes, ...further])(document, choice);
    } catch (error) {
      if (!(error instanceof NothingToMutate)) throw error;
    }
  }
  return document.root ?? null;
}

const isObject = (value: Json): value is { [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Lists the paths of all values in a document, except for the document itself. */
const paths = (document: Json, path: Path = []): Path[] =>
  typeof document === "object" && document !== null
    ? Object.entries(document).flatMap(([key, part]) => [[...path, key], ...paths(part, [...path, key])])
    : [];

export const at = (document: Json, path: Path): Json =>
  path.reduce<Json>((part, key) => (Object.hasOwn(Object(part), key) ? Object(part)[key] : undefined), document);

function replace(document: Json, path: Path, by: (old: Json) => Json): void {
  const parent = Object(at(document, path.slice(0, -1)));
  const key = path.at(-1) as string;
  Object.defineProperty(parent, key, { value: by(parent[key]), enumerable: true, configurable: true, writable: true });
}
