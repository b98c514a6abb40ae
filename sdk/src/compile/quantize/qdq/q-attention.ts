import { gatherColumns } from "../../fusions/attention/projection.ts";
import { sameShape } from "../../graph/dim.ts";
import { MICROSOFT, type Node } from "../../graph/node.ts";
import { elementCount, elementSize, type Tensor } from "../../graph/tensor.ts";
import { type Rule, refuse, rule } from "../../rewrite/rule.ts";

// MultiHeadAttention(q, k, v, mask) with (q, k, v) = MatMulIntegerToFloat(x, W, s, t, z, y, b)
//   = QAttention(x, [Wq Wk Wv], [bq bk bv], s, [tq tk tv], mask, z, [yq yk yv])
//
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QAttention

export const qAttention: Rule = rule("QAttention", {
  roots: ["MultiHeadAttention"],
  domain: MICROSOFT,
  check({ root }) {
    const matMuls = root.inputs.slice(0, 3).flatMap((each) => each?.producer ?? []);
    const [first] = matMuls;
    const areInteger = matMuls.every((each) => each.is("MatMulIntegerToFloat", MICROSOFT));
    return matMuls.length === 3 && first && areInteger && { matMuls, first };
  },
  rewrite({ graph, root, add, constant }, { matMuls, first }) {
    const [, , , bias, mask, ...others] = root.inputs;
    if (matMuls.some(({ output }) => output.users.size > 1 || graph.isOutput(output))) {
      return refuse("one of its projections has other readers", root);
    }
    if (matMuls.some((each) => !haveSameInputs(each, first))) {
      return refuse("its projections have different inputs or types", root);
    }
    const [x, , scale, , zero] = first.inputs;
    if (x?.dtype !== "uint8" || x.shape?.length !== 3) return refuse("its input is not uint8 with three axes", root);
    if (bias || others.some((input) => input))
      return refuse("it has a bias input or past keys, which this rule does not support", root);
    if (mask && mask.shape?.length !== 2) return refuse("its mask is not [batch, keys]", root);

    const packed = (input: number, name: string) =>
      constant(`${root.origin}/qkv_${name}`, sideBySide(matMuls.map((each) => columnsOf(each, input))));
    const hasZeros = matMuls.some(({ inputs }) => inputs[5]);
    const [weights, scales, biases] = [packed(1, "weight"), packed(3, "scale"), packed(6, "bias")];
    const inputs = [x, weights, biases, scale, scales, mask, zero, hasZeros ? packed(5, "zero_point") : undefined];
    return add("QAttention", inputs, { domain: MICROSOFT, attributes: root.attributes }).output;
  },
});

function haveSameInputs({ inputs: [x, weight, scale, , zero] }: Node, { inputs: other }: Node): boolean {
  return (
    x === other[0] &&
    scale === other[2] &&
    zero === other[4] &&
    weight?.dtype === other[1]?.dtype &&
    sameShape(weight?.shape, other[1]?.shape)
  );
}

/** Returns a constant input of a MatMulIntegerToFloat with one number per column; zeros if the input is absent. */
function columnsOf({ inputs }: Node, at: number): Tensor {
  const weight = inputs[1]?.constant as Tensor;
  const columns = weight.shape[1] ?? 0;
  const given = inputs[at]?.constant;
  const dtype = given?.dtype ?? (at === 5 ? weight.dtype : "float32");
  if (given && (elementCount(given.shape) > 1 || columns === 1))
    return { ...given, shape: given.shape.length > 1 ? given.shape : [columns] };
  const bytes = elementSize[dtype];
  const data = new Uint8Array(columns * bytes);
  if (given) for (let column = 0; column < columns; column++) data.set(given.data, column * bytes);
  return { dtype, shape: [columns], data };
}

const sideBySide = (tensors: readonly Tensor[]): Tensor =>
  gatherColumns(
    tensors.map((from) => ({ from, columns: Array.from({ length: from.shape.at(-1) ?? 0 }, (_, i) => i) })),
  );
