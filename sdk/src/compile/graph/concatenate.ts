import { totalLength } from "../../artifact/total-length.ts";

/** Concatenates arrays of one type. */
export function concatenate<T extends Float32Array | Uint8Array>(
  type: new (length: number) => T,
  parts: readonly T[],
): T {
  const all = new type(totalLength(parts));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}
