/** The largest power of ten that is a number. */
const LARGEST = 308;
const ten = (power: number): number => Number(`1e${power}`);

/**
 * What serde_json reads of a number that JSON has with as few digits as tell it from others: its digits as a whole number, rounded,
 * and then multiplied or divided by a power of ten. That is the number, or one next to it. It decides between the same pieces in
 * another order, whose sums would be equal.
 *
 * https://github.com/serde-rs/json/blob/master/src/de.rs, `f64_from_parts`
 */
export function rustNumber(value: number): number {
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  const [whole, fraction = ""] = digits.split(".") as [string, string?];
  const significand = Number(whole + fraction);
  const power = Number(exponent) - fraction.length;
  if (power >= 0) return significand * ten(power);
  return significand / ten(Math.min(-power, LARGEST)) / ten(Math.max(-power - LARGEST, 0));
}
