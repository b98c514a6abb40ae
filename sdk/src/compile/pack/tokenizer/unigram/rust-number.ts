/** Maximum exponent of a power of ten in float64. */
const MAX_EXPONENT = 308;
const ten = (power: number): number => Number(`1e${power}`);

/**
 * Returns the float64 number that serde_json reads from a number's shortest JSON text. serde_json reads all digits as
 * one rounded integer, and multiplies or divides this integer by a power of ten. The result can be one float64 above or
 * below the correct number. This matters for words with two splits of equal score: another split can win.
 *
 * https://github.com/serde-rs/json/blob/master/src/de.rs, `f64_from_parts`
 */
export function rustNumber(value: number): number {
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  const [whole, fraction = ""] = digits.split(".") as [string, string?];
  const significand = Number(whole + fraction);
  const power = Number(exponent) - fraction.length;
  if (power >= 0) return significand * ten(power);
  return significand / ten(Math.min(-power, MAX_EXPONENT)) / ten(Math.max(-power - MAX_EXPONENT, 0));
}
