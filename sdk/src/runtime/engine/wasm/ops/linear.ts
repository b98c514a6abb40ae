import { TILE_OUTPUTS } from "../constants/tiles.ts";
import { tensorAt } from "../run/block.ts";
import { sizeOf } from "./operand-reader.ts";
import type { Operation } from "./operation.ts";

/**
 * Runs a linear layer in integers. Its weight matrix is u7 [out/8, in/4, 8, 4], with bytes from 0 to 127. The other tensors
 * have one number per output, filled up to a multiple of 8: scales f32, zeroPoints i32, sums i32 (the sum of each output's
 * weights), bias f32.
 */
export interface LinearInt8Step {
  readonly op: "linearInt8";
  readonly x: number;
  readonly weight: string;
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

export const linearInt8: Operation<LinearInt8Step> = (step, read) => {
  const x = read.whole(step.x, "x", "i8");
  const inputs = sizeOf(x.width, "width of x", 4);
  const width = read.widthOf(step.out, "out");
  const outputs = TILE_OUTPUTS * Math.ceil(width / TILE_OUTPUTS);
  const tensors = {
    weight: tensorAt(read.tensor(step.weight, "weight", outputs * inputs)),
    scales: tensorAt(read.floats(step.scales, "scales", outputs)),
    zeroPoints: tensorAt(read.integers(step.zeroPoints, "zeroPoints", outputs)),
    sums: tensorAt(read.integers(step.sums, "sums", outputs)),
    bias: tensorAt(read.floats(step.bias, "bias", outputs)),
  };
  const out = read.out(step.out, "out", width);
  return {
    run: (block) =>
      block.kernels.gemmInt8({
        ...tensors,
        a: block.at(x),
        rowParameters: block.parameters(x),
        m: block.count,
        k: inputs,
        n: width,
        out: block.at(out),
        stride: width,
      }),
  };
};

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
