import { shown } from "../../../../artifact/shown.ts";
import { GROUP_PARAMETERS, TILE_OUTPUTS, WEIGHT_BLOCK } from "../constants/tiles.ts";
import { type Block, tensorAt } from "../run/block.ts";
import { ProgramFault, sizeOf } from "./operand-reader.ts";
import type { Operation } from "./operation.ts";

/** Sizes of the groups of 4-bit weights. */
export const weightGroups = [16, 32] as const;
export type WeightGroup = (typeof weightGroups)[number];

/** Bytes of a group's weights of eight outputs, in 4 bits. */
export const packedGroupBytes = (group: WeightGroup): number => GROUP_PARAMETERS + (TILE_OUTPUTS / 2) * group;

/** Bytes of a weight matrix in 4 bits, or in 7 bits without groups. Outputs are filled up to a multiple of 8. */
export const weightBytes = (inputs: number, outputs: number, group?: WeightGroup): number => {
  const panels = Math.ceil(outputs / TILE_OUTPUTS);
  return group ? (panels * inputs * packedGroupBytes(group)) / group : panels * TILE_OUTPUTS * inputs;
};

/**
 * Runs a linear layer in integers. Its weight matrix is u7 [out/8, in/4, 8, 4], with bytes from 0 to 127. The other tensors
 * have one number per output, filled up to a multiple of 8: scales f32, zeroPoints i32, sums i32 (the sum of each output's
 * weights), bias f32.
 *
 * With `group`, the weights have 4 bits, and the tensor is u8 [out/8, in/group, 12 + 4 · group]: see assembly/expand.ts.
 */
export interface LinearInt8Step {
  readonly op: "linearInt8";
  readonly x: number;
  readonly weight: string;
  /** Number of inputs whose weights share a base and a multiplier. Undefined for weights of 7 bits. */
  readonly group?: WeightGroup;
  readonly scales: string;
  readonly zeroPoints: string;
  readonly sums: string;
  readonly bias: string;
  readonly out: number;
}

/** Runs a linear layer in float32: x · wᵀ + bias, with w f32 [out, in]. */
export interface LinearF32Step {
  readonly op: "linearF32";
  readonly x: number;
  readonly weight: string;
  readonly bias: string;
  readonly out: number;
}

export const linearInt8: Operation<LinearInt8Step> = (step, read, { expands }) => {
  const x = read.whole(step.x, "x", "i8");
  const inputs = sizeOf(x.width, "width of x", 4);
  const width = read.widthOf(step.out, "out");
  const outputs = TILE_OUTPUTS * Math.ceil(width / TILE_OUTPUTS);
  const group = groupOf(step.group, inputs);
  const packed = expands === "each call" ? group : undefined;
  const weight = tensorAt(read.tensor(step.weight, "weight", weightBytes(inputs, width, packed)));
  const tensors = {
    scales: tensorAt(read.floats(step.scales, "scales", outputs)),
    zeroPoints: tensorAt(read.integers(step.zeroPoints, "zeroPoints", outputs)),
    sums: tensorAt(read.integers(step.sums, "sums", outputs)),
    bias: tensorAt(read.floats(step.bias, "bias", outputs)),
  };
  const out = read.out(step.out, "out", width);
  const operands = (block: Block) => ({
    ...tensors,
    a: block.at(x),
    rowParameters: block.parameters(x),
    m: block.count,
    k: inputs,
    weight,
    n: width,
    out: block.at(out),
    stride: width,
  });
  if (!packed) return { run: (block) => block.kernels.gemmInt8(operands(block)) };
  const columns = Math.min(outputs, Math.max(1, Math.floor(WEIGHT_BLOCK / inputs / TILE_OUTPUTS)) * TILE_OUTPUTS);
  return {
    blockScratch: columns * inputs,
    /** Expands as many columns of weights as stay in the L2 cache, computes them for all rows, and goes on. */
    run(block) {
      const { scratch } = block.batch.regions;
      const all = operands(block);
      for (let from = 0; from < width; from += columns) {
        const n = Math.min(columns, width - from);
        const groups = (Math.ceil(n / TILE_OUTPUTS) * inputs) / packed;
        const first = ((from / TILE_OUTPUTS) * inputs) / packed;
        block.kernels.expandInt4(weight + first * packedGroupBytes(packed), groups, packed, scratch);
        const at = 4 * from;
        block.kernels.gemmInt8({
          ...all,
          weight: scratch,
          scales: all.scales + at,
          zeroPoints: all.zeroPoints + at,
          sums: all.sums + at,
          bias: all.bias + at,
          n,
          out: all.out + at,
        });
      }
    },
  };
};

function groupOf(group: unknown, inputs: number): WeightGroup | undefined {
  if (group === undefined) return undefined;
  const found = weightGroups.find((size) => size === group);
  if (found && inputs % found === 0) return found;
  throw new ProgramFault(
    `group is ${shown(group)}, not ${weightGroups.join(" or ")}, or does not divide the width of x`,
  );
}

export const linearF32: Operation<LinearF32Step> = (step, read) => {
  const x = read.whole(step.x, "x");
  const inputs = sizeOf(x.width, "width of x", 4);
  const width = read.widthOf(step.out, "out");
  const weight = tensorAt(read.floats(step.weight, "weight", inputs * width));
  const bias = tensorAt(read.floats(step.bias, "bias", width));
  const out = read.out(step.out, "out", width);
  return {
    run: (block) => block.kernels.gemvF32(block.at(x), block.count, inputs, weight, bias, width, block.at(out)),
  };
};
