import { open } from "node:fs/promises";
import { storedFile } from "../../files/stored-file.ts";
import type { Moments } from "./moments.ts";
import type { Calibration } from "./weights.ts";

/** Where a file has what the products of a weight read: Σ x and Σ x xᵀ, one after the other, as float32. */
export interface StoredMoments extends Pick<Moments, "width" | "tokens"> {
  readonly weight: string;
  /** Bytes before them. */
  readonly offset: number;
}

/** Writes moments to a file, those that weights share once. */
export async function writeMoments(path: string, calibration: ReadonlyMap<string, Moments>): Promise<StoredMoments[]> {
  const offsets = new Map<Moments, number>();
  const file = await open(path, "w");
  try {
    let end = 0;
    for (const moments of calibration.values()) {
      if (offsets.has(moments)) continue;
      offsets.set(moments, end);
      for (const { buffer, byteOffset, byteLength } of [moments.sum, moments.products]) {
        await file.writeFile(new Uint8Array(buffer, byteOffset, byteLength));
        end += byteLength;
      }
    }
  } finally {
    await file.close();
  }
  return [...calibration].map(([weight, moments]) => {
    const { width, tokens } = moments;
    return { weight, width, tokens, offset: offsets.get(moments) as number };
  });
}

/** The moments in a file, each read when it is asked for. */
export function momentsIn(path: string, stored: readonly StoredMoments[]): Calibration {
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
        products: new Float32Array(buffer, 4 * width),
      };
    },
  };
}
