/** Maximum characters of a value in a message. */
const LONGEST = 200;

/** Writes a value of unknown type for a message. An object from JSON may have anything as its `toString`. */
export function shown(value: unknown): string {
  const text = typeof value === "object" || typeof value === "string" ? jsonOf(value) : String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Writes a value as JSON. `JSON.stringify` recurses, so it fails on depths that `JSON.parse` reads. */
function jsonOf(value: object | string | null): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "nested too deeply to be shown";
  }
}
