import { int, type Value } from "../graph/node.ts";
import { elementCount } from "../graph/tensor.ts";
import { uniformValue } from "../graph/tensor-math.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import type { Rewrite } from "./rule.ts";

/** Maximum number of terms. Sums of embeddings, and sums of masks and biases, have fewer terms. */
const MAX_TERMS = 8;

/**
 * Returns the terms of a sum. The sum may be grouped in any way, such as (a + b) + c or a + (b + c). A term plus a
 * scalar counts as a single term.
 */
export function sumTerms(value: Value): Value[] {
  const terms = [value];
  for (let i = 0; i < terms.length && terms.length < MAX_TERMS; ) {
    const node = terms[i]?.producer;
    const [a, b] = node?.is("Add") ? node.inputs : [];
    if (a && b && uniformValue(a) === undefined && uniformValue(b) === undefined) terms.splice(i, 1, a, b);
    else i++;
  }
  return terms;
}

/** Casts token ids or a mask to int32, the type that fused operators require. */
export const castToInt32 = ({ add }: Rewrite, value: Value): Value =>
  value.dtype === "int32"
    ? value
    : add("Cast", [value], { attributes: { to: int(dataTypes.int32) }, name: `${value.name}/int32` }).output;

/** Returns the value if it is a constant vector of this length. Leading dimensions of 1 are allowed. */
export function vectorOf(value: Value | undefined, length: unknown): Value | undefined {
  const shape = value?.constant?.shape;
  return shape && elementCount(shape) === length && (shape.length === 0 || shape.at(-1) === length) ? value : undefined;
}
