// Node 22 has no Float16Array, so half-precision numbers are handled as their bits, in a Uint16Array.

const INFINITY = 0x7c00;
const NAN = 0x7e00;
const SIGN = 0x8000;

const float64 = new Float64Array(1);
const words = new Uint32Array(float64.buffer);

/** Factor for each exponent from −14 to 15. It scales the distance between neighbouring float16 numbers to 1. */
const perSpacing = Array.from({ length: 30 }, (_, i) => 2 ** (24 - i));

/** Rounds a number to half precision (to nearest, ties to even) and returns its bits. */
function bitsOf(x: number): number {
  float64[0] = x;
  const high = words[1] as number;
  const sign = (high >>> 16) & SIGN;
  const exponent = Math.max(((high >>> 20) & 0x7ff) - 1023, -14);
  if (exponent > 15) return Number.isNaN(x) ? NAN : sign | INFINITY;
  // Adding and subtracting 2⁵² rounds to an integer. If the rounded significand is 2048, the addition in the last line
  // increases the exponent by 1.
  const significand = Math.abs(x) * (perSpacing[exponent + 14] as number) + 2 ** 52 - 2 ** 52;
  return sign | ((exponent + 14) * 1024 + significand);
}

function numberOf(bits: number): number {
  const sign = bits & SIGN ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent === 0 ? fraction : (fraction + 1024) * 2 ** (exponent - 1)) * 2 ** -24;
}

/** Rounds numbers to half precision (to nearest, ties to even) and returns their bits. */
export function toHalfBits(values: ArrayLike<number>): Uint16Array<ArrayBuffer> {
  const bits = new Uint16Array(values.length);
  for (let i = 0; i < bits.length; i++) bits[i] = bitsOf(values[i] as number);
  return bits;
}

/** The number for each of the 65,536 float16 bit patterns. Models have millions of numbers, and look-ups are fast. */
const numbers = new Float32Array(1 << 16);
for (let bits = 0; bits < numbers.length; bits++) numbers[bits] = numberOf(bits);

/** Converts float16 bits to float32 numbers, without loss. */
export function fromHalfBits(bits: Uint16Array): Float32Array<ArrayBuffer> {
  const converted = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) converted[i] = numbers[bits[i] as number] as number;
  return converted;
}
