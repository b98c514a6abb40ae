import type { SeededChoice } from "../choose.ts";
import type { Json } from "../damage-json.ts";

/** Letters that look like Latin ones. */
const ALIKE: Readonly<Record<string, string>> = {
  a: "а",
  c: "с",
  e: "е",
  i: "і",
  o: "о",
  p: "р",
  s: "ѕ",
  x: "х",
  y: "у",
};

/** How people misspell a name with underscores. */
const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
  (name) => name.replaceAll("_", "-"),
  (name) => name.replaceAll("_", ""),
  (name) => (name.endsWith("s") ? name.slice(0, -1) : `${name}s`),
  (name) => name.toUpperCase(),
  (name) => name.slice(0, 1).toUpperCase() + name.slice(1),
  (name) => `${name} `,
  (name) => name.replace(/[aceiopsxy]/, (letter) => ALIKE[letter] ?? letter),
  (name) => name.slice(0, 2) + name.slice(3, 4) + name.slice(2, 3) + name.slice(4),
  (name) => name.replace(/^(.{3,})[a-z]/, "$1"),
];

/** Writes a name as people misspell it. */
export function misspelt(name: string, choice: SeededChoice): string {
  const others = SPELLINGS.map((spell) => spell(name)).filter((spelt) => spelt !== name);
  return choice.of(others);
}

const DATES = ["2026-11-29", "2026-11-29T07:30:00Z"];
const BASE64 = "AACAPwAAAEA=";

/** Returns a value that people send in place of another one. */
export function wrongValue(value: Json, choice: SeededChoice): Json {
  const any: Json[] = [
    ...DATES,
    BASE64,
    "NaN",
    "null",
    "",
    {},
    [],
    [[]],
    { text: "to be" },
    { value },
    1e21,
    -1,
    0,
    0.5,
  ];
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  switch (typeof value) {
    case "number":
      return choice.of([text, text, `${text}px`, value + 0.5, -value, [value], true, "auto", 1e308, 2 ** 53, ...any]);
    case "boolean":
      return choice.of([text, text, text.toUpperCase(), value ? 1 : 0, value ? "yes" : "no", [value], "on", ...any]);
    case "string":
      return choice.of([
        7,
        true,
        [text, 7],
        { text },
        { content: text },
        [[text], [text]],
        { type: "text", text },
        ...any,
      ]);
    default:
      if (Array.isArray(value))
        return choice.of([{ 0: value[0] ?? "" }, text, [value], { texts: value }, [null], ...any]);
      return choice.of([[value], text, Object.values(value as object) as Json, Object.keys(value as object), ...any]);
  }
}

/** Lists the paths of all values in a document, with dots between their parts. */
export const placesIn = (json: Json, path = ""): string[] =>
  typeof json === "object" && json !== null
    ? Object.entries(json).flatMap(([key, part]) => {
        const place = path === "" ? key : `${path}.${key}`;
        return [place, ...placesIn(part, place)];
      })
    : [];

/** Returns a copy of a document with another value at a place. */
export function withValue(json: Json, place: string, value: (old: Json) => Json | undefined): Json {
  const copy = { root: structuredClone(json) };
  const keys = ["root", ...place.split(".")];
  const last = keys.pop() as string;
  const owner = keys.reduce<unknown>((part, key) => Object(part)[key], copy) as Record<string, Json>;
  const changed = value(owner[last] as Json);
  if (changed !== undefined) owner[last] = changed;
  else if (Array.isArray(owner)) owner.splice(Number(last), 1);
  else delete owner[last];
  return copy.root;
}

/** Returns a copy of a document with another name for a field, in the same place. */
export function withName(json: Json, place: string, name: string): Json {
  const at = place.split(".");
  const last = at.pop() as string;
  const rename = (owner: Json): Json =>
    Object.fromEntries(Object.entries(owner as object).map(([key, value]) => [key === last ? name : key, value]));
  return at.length === 0 ? rename(json) : withValue(json, at.join("."), rename);
}

/** Whether a place is a field of an object, and no item of a list. */
export const isField = (place: string): boolean => !/(^|\.)\d+$/.test(place);

/** Fields whose strings are texts of the caller. */
const TEXTS: ReadonlySet<string> = new Set([
  ...["inputs", "input", "texts", "documents", "query", "source", "text_1", "text_2", "text", "text_pair"],
  ...["source_sentence", "sentences", "context"],
]);

/** Replaces the texts of a body. */
export function withText(json: Json, text: string, isText = false): Json {
  if (typeof json === "string") return isText ? text : json;
  if (Array.isArray(json)) return json.map((item) => withText(item, text, isText));
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [name, withText(value, text, TEXTS.has(name))]),
  );
}
