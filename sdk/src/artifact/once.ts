/**
 * Returns a function that calls `make` the first time, and gives the same result again, whatever its arguments are. An error of
 * `make` is not kept.
 */
export function once<Args extends readonly unknown[], T>(make: (...args: Args) => T): (...args: Args) => T {
  let made: { readonly value: T } | undefined;
  return (...args) => {
    made ??= { value: make(...args) };
    return made.value;
  };
}
