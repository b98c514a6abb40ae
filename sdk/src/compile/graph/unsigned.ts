import { type Tensor, tensor } from "./tensor.ts";

/** Added to an int8 number to make it a uint8 number. */
const OFFSET = 128;

/** Adds 128 to every number of an int8 tensor, which makes it uint8. In bytes, this flips the highest bit. */
export const unsigned = ({ shape, data }: Tensor): Tensor =>
  tensor(
    "uint8",
    shape,
    data.map((byte) => byte ^ OFFSET),
  );

/** The zero point 0 of int8, in uint8. */
export const UNSIGNED_ZERO: Tensor = tensor("uint8", [], Uint8Array.of(OFFSET));
