import { dimProduct, sameShape } from "../../graph/dim.ts";
import { MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import { reshaped, tensorFromNumbers } from "../../graph/tensor.ts";
import { type Rewrite, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { reshapedTo } from "./shape.ts";
import { swapLastAxes, transposed } from "./transpose.ts";

/**
 * Makes a rule that splits a Gemm if `applies(a)` is true:
 * Gemm(a, b, c) = MatMul(a, b) + c. With `transB`, b is transposed first.
 */
const gemmOf = (applies: (a: Value) => boolean): Rule =>
  rule("gemm", {
    roots: ["Gemm"],
    check: ({ root: { inputs } }) => inputs[0] && applies(inputs[0]),
    rewrite(rewrite) {
      const { root, add } = rewrite;
      const [a, b, c] = root.inputs;
      const isScaled = (root.float("alpha") ?? 1) !== 1 || (c !== undefined && (root.float("beta") ?? 1) !== 1);
      if (isScaled || root.int("transA") === 1) return refuse("Gemm scales its terms or transposes its input", root);
      if (!b?.shape) return refuse("the shape of the weight of Gemm is unknown", root);
      const weight = root.int("transB") === 1 ? transposed(rewrite, b, [1, 0]) : b;
      const matMul = add("MatMul", [a, weight]).output;
      return c ? add("Add", [matMul, c]).output : matMul;
    },
  });

const isRows = ({ producer, shape }: Value) =>
  producer?.is("Reshape") === true && (producer.inputs[0]?.shape?.length ?? 0) > (shape?.length ?? 0);

/**
 * Replaces each Gemm whose input has one row per token. Keeps Gemm in poolers and task heads, whose input has one row
 * per text.
 */
export const gemmRule: Rule = gemmOf(isRows);

/** Replaces every Gemm, also in poolers and task heads. */
export const everyGemmRule: Rule = gemmOf(() => true);

/**
 * Splits onnxruntime's FusedMatMul(a, b) = alpha · a · b, where a and b may be transposed, into standard operators. Files
 * that an onnxruntime session has saved contain it.
 */
export const fusedMatMulRule: Rule = rule("FusedMatMul", {
  roots: ["FusedMatMul"],
  domain: MICROSOFT,
  rewrite(rewrite) {
    const { root, add, constant } = rewrite;
    const [a, b] = root.inputs;
    const { dtype } = root.output;
    if (!a?.shape || !b?.shape || !dtype) return refuse("the shapes of its inputs are unknown", root);
    if (root.int("transBatchA") === 1 || root.int("transBatchB") === 1)
      return refuse("FusedMatMul moves the batch axis", root);
    const [left, right] = [
      root.int("transA") === 1 ? swapLastAxes(rewrite, a) : a,
      root.int("transB") === 1 ? swapLastAxes(rewrite, b) : b,
    ];
    const product = add("MatMul", [left, right]).output;
    const alpha = root.float("alpha") ?? 1;
    return alpha === 1
      ? product
      : add("Mul", [product, constant("alpha", tensorFromNumbers(dtype, [], [alpha]))]).output;
  },
});

/** Returns the terms and the result of an Einsum of two tensors; undefined for other numbers of tensors. */
function equationOf(node: Node): { a: string; b: string; result: string } | undefined {
  const [terms = "", result = ""] = (node.string("equation") ?? "").replace(/\s/g, "").split("->");
  const [a = "", b = "", ...more] = terms.split(",");
  return more.length === 0 && node.inputs.length === 2 ? { a, b, result } : undefined;
}

/** Returns the letters of a term for which `holds` is true. */
const lettersOf = (term: string, holds: (letter: string) => boolean) => [...term].filter(holds).join("");

/**
 * Replaces an Einsum of a tensor and a constant weight by a MatMul:
 * Einsum("…k, k n₁ n₂ → … n₁ n₂") = Reshape(MatMul(x, W: [k, n₁ · n₂])).
 *
 * The summed letters must be the last letters of the left term and the first letters of the weight.
 */
export const einsumWeightRule: Rule = rule("einsum weight", {
  roots: ["Einsum"],
  check({ root }) {
    const [x, weight] = root.inputs;
    const equation = equationOf(root);
    return equation && x?.shape && weight?.constant && { ...equation, x, shape: x.shape, weight: weight.constant };
  },
  rewrite(rewrite, { a, b, result, x, shape, weight }) {
    const { root, add, constant } = rewrite;
    const summed = lettersOf(a, (letter) => b.includes(letter) && !result.includes(letter));
    const [kept, columns] = [a.slice(0, a.length - summed.length), b.slice(summed.length)];
    if (summed === "" || a !== kept + summed || b !== summed + columns || result !== kept + columns) {
      return refuse(`the Einsum equation ${a},${b}->${result} is not a MatMul`, root);
    }
    const [inner, outer] = [weight.shape.slice(0, summed.length), weight.shape.slice(summed.length)].map(
      (sizes) => dimProduct(sizes) as number,
    ) as [number, number];
    const rows = [...shape.slice(0, kept.length), inner];
    const flat = constant(`${root.inputs[1]?.name}/matrix`, reshaped(weight, [inner, outer]));
    const source = sameShape(rows, shape) ? x : reshapedTo(rewrite, x, rows, `${root.name}/rows`);
    if (!source) return refuse("the Reshape of its input has more than one open size", root);
    const { output } = add("MatMul", [source, flat]);
    if (sameShape(output.shape, root.output.shape)) return output;
    const split = reshapedTo(rewrite, output, root.output.shape, `${root.name}/heads`);
    return split ?? refuse("the Reshape of its result has more than one open size", root);
  },
});

/**
 * Replaces an Einsum of two tensors by a MatMul of their transposes. Both terms contain the batch letters and the
 * letter that is summed. Each term also contains one letter that the other term lacks:
 * "bqhd,bkhd->bhqk" = MatMul([b h q d], [b h d k])
 */
export const einsumMatMulRule: Rule = rule("einsum MatMul", {
  roots: ["Einsum"],
  check({ root }) {
    const [left, right] = root.inputs;
    const { a = "", b = "", result = "" } = equationOf(root) ?? {};
    if (!left || !right || (a + b).includes(".") || new Set(result).size !== result.length) return undefined;
    const batch = lettersOf(result, (letter) => a.includes(letter) && b.includes(letter));
    const summed = lettersOf(a, (letter) => b.includes(letter) && !result.includes(letter));
    const [own, other] = [a, b].map((term) =>
      lettersOf(term, (letter) => result.includes(letter) && !batch.includes(letter)),
    );
    if (summed.length !== 1 || own?.length !== 1 || other?.length !== 1) return undefined;
    if (a.length !== batch.length + 2 || b.length !== batch.length + 2) return undefined;
    return {
      operands: [
        [left, a, batch + own + summed],
        [right, b, batch + summed + other],
      ] as const,
      product: batch + own + other,
      result,
    };
  },
  rewrite(rewrite, { operands, product, result }) {
    const inputs = operands.map(([value, from, to]) => ordered(rewrite, value, from, to));
    return ordered(rewrite, rewrite.add("MatMul", inputs).output, product, result);
  },
});

/** Transposes a value, whose axes have the letters `from`, to the order `to`. */
function ordered(rewrite: Rewrite, value: Value, from: string, to: string): Value {
  const perm = [...to].map((letter) => from.indexOf(letter));
  return perm.every((axis, i) => axis === i) ? value : transposed(rewrite, value, perm);
}
