import type { Attribute } from "../../graph/attribute.ts";
import type { Node, Value } from "../../graph/node.ts";
import { UNSIGNED_ZERO, unsigned } from "../../graph/unsigned.ts";
import { type Rewrite, type Rule, rule } from "../../rewrite/rule.ts";
import { hasOneElement } from "./dequantized.ts";

// dequantize(quantize(x, s, z), s, z) in int8 = dequantize(quantize(x, s, z + 128), s, z + 128) in uint8
//
// Rounding and saturation are the same. onnxruntime's fast kernels for x86 and WebAssembly need uint8 activations, and
// QAttention supports no other type.

export const unsignedActivations: Rule = rule("unsigned activation", {
  roots: ["QuantizeLinear"],
  rewrite(rewrite) {
    const { graph, root, add } = rewrite;
    const [x, scale, zero] = root.inputs;
    const readers = [...root.output.users];
    if (root.output.dtype !== "int8" || x?.isConstant || !scale || graph.isOutput(root.output)) return undefined;
    if (![root, ...readers].every(hasKnownZero) || !readers.every((reader) => reader.is("DequantizeLinear"))) {
      return undefined;
    }
    const quantized = add("QuantizeLinear", [x, scale, shifted(rewrite, zero)], {
      attributes: attributesOf(root),
    }).output;
    return readers.map(({ inputs: [, factor, offset], attributes, output, origin }) => {
      const inputs = [quantized, factor, shifted(rewrite, offset)];
      return [output, add("DequantizeLinear", inputs, { name: origin, origin, attributes }).output] as const;
    });
  },
});

/** Whether the zero point is known: it is a constant, or it is absent (0) and the node has a single scale. */
const hasKnownZero = ({ inputs: [, scale, zero] }: Node) =>
  zero ? zero.constant !== undefined : scale !== undefined && hasOneElement(scale);

function shifted({ root, constant }: Rewrite, zero: Value | undefined): Value {
  return constant(`${root.origin}/zero_point`, zero?.constant ? unsigned(zero.constant) : UNSIGNED_ZERO);
}

/** Returns the attributes without output_dtype, because the zero point determines the type. */
function attributesOf({ attributes }: Node): Record<string, Attribute> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name !== "output_dtype"));
}
