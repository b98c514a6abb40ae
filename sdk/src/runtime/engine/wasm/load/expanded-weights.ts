import { TILE_OUTPUTS } from "../constants/tiles.ts";
import { packedGroupBytes, type WeightGroup, weightGroups } from "../ops/linear.ts";
import { ProgramFault } from "../ops/operand-reader.ts";
import { aligned } from "../run/memory-map.ts";
import type { Program } from "../run/program.ts";

/** Weights of 4 bits in the model file, and their place in memory once they are expanded. */
export interface ExpandedWeight {
  readonly name: string;
  readonly group: WeightGroup;
  /** Offsets in the file. */
  readonly begin: number;
  readonly end: number;
  /** Offset of the expanded weights, counted from the address MODEL. */
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Weights that are expanded once take the place of the file that they come from:
 *
 *     in the file    header │ packed weights │ other tensors
 *     in memory      expanded weights        │ other tensors
 *
 * The file is placed `begins` bytes after the address MODEL, and the weights are expanded from MODEL on. Expanding writes more than it
 * reads, so it comes closer to the bytes that it has still to read, and reaches them with the last weight.
 */
export interface Expansions {
  readonly begins: number;
  readonly weights: readonly ExpandedWeight[];
}

/**
 * Finds the weights of a program to expand, and their places.
 *
 * @param tensors the tensors of the file, with offsets in the file
 * @throws ProgramFault if other tensors come before packed weights: expanding would overwrite them
 */
export function expansionsOf(
  { steps, expands = "once" }: Program,
  tensors: ReadonlyMap<string, { readonly begin: number; readonly end: number }>,
): Expansions {
  const groups = new Map<string, WeightGroup>();
  for (const step of expands === "once" && Array.isArray(steps) ? steps : []) {
    const { op, weight, group } = Object(step) as { readonly [field: string]: unknown };
    const found = op === "linearInt8" ? weightGroups.find((size) => size === group) : undefined;
    if (!found || typeof weight !== "string" || !tensors.has(weight)) continue;
    if ((groups.get(weight) ?? found) !== found) throw new ProgramFault(`${weight} has two sizes of groups`);
    groups.set(weight, found);
  }
  const inFile = [...tensors].toSorted(([, a], [, b]) => a.begin - b.begin);
  if (inFile.slice(0, groups.size).some(([name]) => !groups.has(name)))
    throw new ProgramFault("other tensors come before its weights of 4 bits");
  let [offset, begins] = [0, 0];
  const weights = inFile.slice(0, groups.size).map(([name, { begin, end }]): ExpandedWeight => {
    const group = groups.get(name) as WeightGroup;
    const whole = Math.floor((end - begin) / packedGroupBytes(group));
    const weight = { name, group, begin, end, offset, bytes: whole * group * TILE_OUTPUTS };
    offset += weight.bytes;
    begins = Math.max(begins, aligned(offset - begin - whole * packedGroupBytes(group)));
    return weight;
  });
  return { begins, weights };
}
