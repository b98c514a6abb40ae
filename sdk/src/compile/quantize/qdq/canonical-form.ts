import { runSubgraph } from "../../evaluate/run-subgraph.ts";
import type { Graph } from "../../graph/graph.ts";
import { type Attribute, int, type Node, type Value } from "../../graph/node.ts";
import { transposedMatrix, UNSIGNED_ZERO, unsigned } from "../../graph/tensor-math.ts";
import { bind, constant, op } from "../../rewrite/pattern.ts";
import { type Rewrite, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { hasOneElement, weightOf } from "./dequantized.ts";

/**
 * Computes two kinds of constants that the model would otherwise compute on every run. Float32 weights that a
 * QuantizeLinear reads (in models from quantization-aware training) are quantized. Biases that are stored as integers
 * are dequantized. onnxruntime does the computation, so the results are the same as in the model.
 */
export async function foldQuantizedConstants(graph: Graph): Promise<void> {
  for (const node of graph.sorted()) {
    if (!isWeight(node) && !isVector(node)) continue;
    const [result] = (await runSubgraph(graph, [node.output], new Map())) ?? [];
    if (result) graph.replace(node.output, graph.constant(node.output.name, result));
  }
  graph.prune();
  inferShapes(graph);
}

const readsConstants = ({ inputs }: Node) => inputs.every((input) => !input || input.constant);

const isWeight = (node: Node) => node.is("QuantizeLinear") && readsConstants(node);

/** Whether a node dequantizes a vector: a bias, a gain or an offset. Tables and matrices stay in 8 bits to save memory. */
const isVector = (node: Node) =>
  node.is("DequantizeLinear") && readsConstants(node) && (node.inputs[0]?.shape?.length ?? 2) <= 1;

/** dequantize(q)ᵀ = dequantize(qᵀ). Scales per row become scales per column. */
export const transposedWeight: Rule = rule("transposed weight", {
  roots: ["Transpose"],
  pattern: op("Transpose", [bind("weight", op("DequantizeLinear", [constant("data")]))]),
  shared: ["weight"],
  check: ({ value }) => weightOf(value("weight"), true) !== undefined,
  rewrite({ value, tensor, add, constant }) {
    const matrix = constant(`${value("data").name}/transposed`, transposedMatrix(tensor("data")));
    return add("DequantizeLinear", [matrix, ...(value("weight").producer?.inputs.slice(1) ?? [])], {
      attributes: { axis: int(1) },
    }).output;
  },
});

// dequantize(quantize(x, s, z), s, z) in int8 = dequantize(quantize(x, s, z + 128), s, z + 128) in uint8
//
// Rounding and saturation are the same. onnxruntime's fast kernels for x86 and WebAssembly need uint8 activations, and
// QAttention supports no other type.

export const unsignedActivations: Rule = rule("unsigned activation", {
  roots: ["QuantizeLinear"],
  check: ({ root: { inputs, output } }) => output.dtype === "int8" && !inputs[0]?.isConstant,
  rewrite(rewrite) {
    const { graph, root, add } = rewrite;
    const [x, scale, zero] = root.inputs;
    const readers = [...root.output.users];
    if (graph.isOutput(root.output) || !readers.every((reader) => reader.is("DequantizeLinear")))
      return refuse("its result has readers that need int8", root);
    if (![root, ...readers].every(hasKnownZero)) return refuse("its zero point is computed", root);
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
