import { open } from "node:fs/promises";
import { storedFile } from "../../files/stored-file.ts";
import type { ActivationStatistics, CalibrationStatistics } from "./activation-statistics.ts";

/** Location of one weight matrix's statistics in the file: Σ x, then Σ x xᵀ, both float32. */
export interface StoredStatistics extends Pick<ActivationStatistics, "width" | "tokens"> {
  /** Name of the weight matrix. */
  readonly weight: string;
  /** Position in the file, in bytes. */
  readonly offset: number;
}

/** Writes statistics to a file. Weights with the same statistics object share one copy in the file. */
export async function writeStatistics(
  path: string,
  byWeight: ReadonlyMap<string, ActivationStatistics>,
): Promise<StoredStatistics[]> {
  const offsets = new Map<ActivationStatistics, number>();
  const file = await open(path, "w");
  try {
    let end = 0;
    for (const statistics of byWeight.values()) {
      if (offsets.has(statistics)) continue;
      offsets.set(statistics, end);
      for (const { buffer, byteOffset, byteLength } of [statistics.sum, statistics.gram]) {
        await file.writeFile(new Uint8Array(buffer, byteOffset, byteLength));
        end += byteLength;
      }
    }
  } finally {
    await file.close();
  }
  return [...byWeight].map(([weight, statistics]) => {
    const { width, tokens } = statistics;
    return { weight, width, tokens, offset: offsets.get(statistics) as number };
  });
}

/** Opens a statistics file. `get` reads one entry from the file on each call. */
export function storedStatistics(path: string, stored: readonly StoredStatistics[]): CalibrationStatistics {
  const file = storedFile(path);
  const byWeight = new Map(stored.map((each) => [each.weight, each]));
  return {
    get(weight) {
      const found = byWeight.get(weight);
      if (!found) return undefined;
      const { width, tokens, offset } = found;
      const { buffer } = file.subarray(offset, offset + 4 * width * (1 + width));
      return {
        width,
        tokens,
        sum: new Float32Array(buffer, 0, width),
        gram: new Float32Array(buffer, 4 * width),
      };
    },
  };
}
