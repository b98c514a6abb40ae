/** A name of the HTTP interface, as JavaScript writes it. */
export type CamelName<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelName<Tail>>}`
  : Name;

/** A value of the HTTP interface with the names of JavaScript: `top_k` becomes `topK`, also in lists and objects. */
export type CamelCase<T> = T extends readonly (infer Item)[]
  ? CamelCase<Item>[]
  : T extends object
    ? { [Key in keyof T as CamelName<Key>]: CamelCase<T[Key]> }
    : T;

/** Renames the keys of a value, also in lists and objects. */
function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), renamed(item, rename)]));
}

export const camelCase = <T>(value: T): CamelCase<T> =>
  renamed(value, (key) => key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())) as CamelCase<T>;

/** The inverse of `camelCase`. */
export const snakeCase = <T extends object>(value: object): T =>
  renamed(value, (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)) as T;
