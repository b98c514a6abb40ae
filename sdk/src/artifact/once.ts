/**
 * Returns a function that calls `make` at the first call, and returns the same result at every later call, whatever the arguments are.
 * If `make` throws, the next call tries again.
 */
export function once<Args extends readonly unknown[], T>(make: (...args: Args) => T): (...args: Args) => T {
  let made: { readonly value: T } | undefined;
  return (...args) => {
    made ??= { value: make(...args) };
    return made.value;
  };
}
