import { open } from "node:fs/promises";
import { storedFile } from "../../files/stored-file.ts";
import { type ActivationStatistics, type CalibrationStatistics, gramLength } from "./activation-statistics.ts";
import type { WeightStatistics } from "./observe-statistics.ts";

/** Location of one weight matrix's statistics in the file: Σ x, then the blocks of Σ x xᵀ, all float32. */
export interface StoredStatistics extends Pick<ActivationStatistics, "width" | "tokens"> {
  /** Name of the weight matrix. */
  readonly weight: string;
  /** Position in the file, in bytes. */
  readonly offset: number;
}

/** Writes statistics to a file, one after the other. Weights with the same statistics share one copy in the file. */
export interface StatisticsWriter {
  readonly write: (found: WeightStatistics) => Promise<void>;
  /** Ends the file, and returns the locations. */
  readonly end: () => Promise<StoredStatistics[]>;
}

export async function writeStatistics(path: string): Promise<StatisticsWriter> {
  const file = await open(path, "w");
  const stored: StoredStatistics[] = [];
  let end = 0;
  return {
    async write({ weights, width, tokens, sum, gram }) {
      stored.push(...weights.map((weight) => ({ weight, width, tokens, offset: end })));
      for (const { buffer, byteOffset, byteLength } of [sum, gram]) {
        await file.writeFile(new Uint8Array(buffer, byteOffset, byteLength));
        end += byteLength;
      }
    },
    async end() {
      await file.close();
      return stored;
    },
  };
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
      const { buffer } = file.subarray(offset, offset + 4 * (width + gramLength(width)));
      return {
        width,
        tokens,
        sum: new Float32Array(buffer, 0, width),
        gram: new Float32Array(buffer, 4 * width),
      };
    },
  };
}
