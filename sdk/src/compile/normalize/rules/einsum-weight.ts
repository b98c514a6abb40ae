import { dimProduct, sameShape } from "../../graph/dim.ts";
import { int64s, reshaped } from "../../graph/tensor.ts";
import { type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { reshapeTarget } from "../reshape-target.ts";

/**
 * Replaces an Einsum of a tensor and a constant weight by a MatMul:
 * Einsum("…k, k n₁ n₂ → … n₁ n₂") = Reshape(MatMul(x, W: [k, n₁ · n₂])).
 *
 * The summed letters must be the last letters of the left term and the first letters of the weight.
 */
export const einsumWeightRule: Rule = rule("einsum weight", {
  roots: ["Einsum"],
  rewrite({ root, add, constant }) {
    const [x, weight] = root.inputs;
    const [left = "", right = ""] = (root.string("equation") ?? "").replace(/\s/g, "").split("->");
    const [a = "", b = "", ...more] = left.split(",");
    if (!weight?.constant || !x?.shape || more.length > 0 || root.inputs.length !== 2) return undefined;
    const contracted = [...a].filter((letter) => b.includes(letter) && !right.includes(letter)).join("");
    const [kept, columns] = [a.slice(0, a.length - contracted.length), b.slice(contracted.length)];
    if (contracted === "" || a !== kept + contracted || b !== contracted + columns || right !== kept + columns) {
      return refuse(`the Einsum equation ${left}->${right} is not a MatMul`, root);
    }
    const { shape } = weight.constant;
    const inner = dimProduct(shape.slice(0, contracted.length)) as number;
    const outer = dimProduct(shape.slice(contracted.length)) as number;
    const rows = [...x.shape.slice(0, kept.length), inner];
    const flat = constant(`${weight.name}/matrix`, reshaped(weight.constant, [inner, outer]));
    const before = sameShape(rows, x.shape) ? x : undefined;
    const target = before ? undefined : reshapeTarget(x.shape, rows);
    const source = before ?? (target && add("Reshape", [x, constant(`${root.name}/rows`, target)]).output);
    if (!source || !root.output.shape) return undefined;
    const { output } = add("MatMul", [source, flat]);
    if (sameShape(output.shape, root.output.shape)) return output;
    const back = output.shape && reshapeTarget(output.shape, root.output.shape);
    return back && add("Reshape", [output, constant(`${root.name}/heads`, back ?? int64s())]).output;
  },
});
