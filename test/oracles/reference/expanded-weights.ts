/** Weights of 4 bits of the edge engine, as assembly/expand.ts describes them: groups of 8 outputs by `group` inputs. */
const OUTPUTS = 8;
const PARAMETER_BYTES = 12;

/**
 * Expands weights of 4 bits: base + multiplier · code, in a byte.
 *
 * @param packed u8 [groups, 12 + 4 · group]
 * @returns u8 [groups, group/4, 8, 4]
 */
export function expandedWeights(packed: Uint8Array, group: number): Uint8Array<ArrayBuffer> {
  const bytes = PARAMETER_BYTES + (OUTPUTS * group) / 2;
  const expanded = new Uint8Array((packed.length / bytes) * OUTPUTS * group);
  for (let at = 0; at < expanded.length; at++) {
    const g = Math.floor(at / (OUTPUTS * group));
    const [tile, output, input] = [Math.floor(at / 32) % (group / 4), Math.floor(at / 4) % OUTPUTS, at % 4];
    const stored = packed.subarray(g * bytes, (g + 1) * bytes);
    const base = stored[output] as number;
    const multiplier = half(stored[8 + (output % 4)], output >= 4);
    // Two tiles share 32 bytes: 16 for the first four outputs, and 16 for the others.
    const vector = 2 * Math.floor(tile / 2) + (output < 4 ? 0 : 1);
    const code = half(stored[PARAMETER_BYTES + 16 * vector + 4 * (output % 4) + input], tile % 2 === 1);
    expanded[at] = base + multiplier * code;
  }
  return expanded;
}

const half = (byte: number | undefined, isUpper: boolean): number => ((byte as number) >> (isUpper ? 4 : 0)) & 15;
