/** Objects that a parser could change by a key such as `__proto__` or `constructor`. */
const watched: Readonly<Record<string, object>> = {
  Object,
  Array,
  "Object.prototype": Object.prototype,
  "Array.prototype": Array.prototype,
};

const sound = Object.entries(watched).map(([name, object]) => ({
  name,
  object,
  properties: new Map(Reflect.ownKeys(object).map((key) => [key, Object.getOwnPropertyDescriptor(object, key) ?? {}])),
}));

/** Finds new and replaced properties of prototypes, puts back what was there, and returns their names. */
export function restorePrototypes(): string[] {
  return sound.flatMap(({ name, object, properties }) => {
    const added = Reflect.ownKeys(object).filter((key) => !properties.has(key));
    for (const key of added) Reflect.deleteProperty(object, key);
    const changed = [...properties].filter(
      ([key, { value }]) => Object.getOwnPropertyDescriptor(object, key)?.value !== value,
    );
    for (const [key, property] of changed) Object.defineProperty(object, key, property);
    return [...added, ...changed.map(([key]) => key)].map((key) => `${name}.${String(key)}`);
  });
}
