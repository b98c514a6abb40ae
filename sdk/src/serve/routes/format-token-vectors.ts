import type { TokenVectors } from "../../runtime/tasks/token-vectors-call.ts";
import { formatVector } from "../contract/format-vector.ts";

/** Formats the vectors of a text's tokens as JSON: a list of lists of numbers. */
export function formatTokenVectors({ vectors, dimensions }: TokenVectors): string {
  const tokens = Array.from({ length: vectors.length / dimensions }, (_, token) =>
    formatVector(vectors.subarray(token * dimensions, (token + 1) * dimensions), "float"),
  );
  return `[${tokens}]`;
}
