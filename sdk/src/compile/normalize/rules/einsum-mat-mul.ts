import { ints } from "../../graph/attribute.ts";
import type { Value } from "../../graph/node.ts";
import { type Rewrite, type Rule, rule } from "../../rewrite/rule.ts";

/**
 * Replaces an Einsum of two tensors by a MatMul of their transposes. Both terms contain the batch letters and the
 * letter that is summed. Each term also contains one letter that the other term lacks:
 * "bqhd,bkhd->bhqk" = MatMul([b h q d], [b h d k])
 */
export const einsumMatMulRule: Rule = rule("einsum MatMul", {
  roots: ["Einsum"],
  rewrite(rewrite) {
    const { root } = rewrite;
    const [terms = "", result = ""] = (root.string("equation") ?? "").replace(/\s/g, "").split("->");
    const [a = "", b = "", ...more] = terms.split(",");
    const [left, right] = root.inputs;
    if (more.length > 0 || !left || !right || terms.includes(".") || new Set(result).size !== result.length)
      return undefined;
    const batch = [...result].filter((letter) => a.includes(letter) && b.includes(letter)).join("");
    const summed = [...a].filter((letter) => b.includes(letter) && !result.includes(letter)).join("");
    const [own, other] = [a, b].map((term) =>
      [...term].filter((letter) => result.includes(letter) && !batch.includes(letter)).join(""),
    );
    if (summed.length !== 1 || own?.length !== 1 || other?.length !== 1) return undefined;
    if (a.length !== batch.length + 2 || b.length !== batch.length + 2) return undefined;
    const matMul = rewrite.add("MatMul", [
      transposed(rewrite, left, a, batch + own + summed),
      transposed(rewrite, right, b, batch + summed + other),
    ]).output;
    return transposed(rewrite, matMul, batch + own + other, result);
  },
});

function transposed({ add }: Rewrite, value: Value, from: string, to: string): Value {
  const perm = [...to].map((letter) => from.indexOf(letter));
  if (perm.every((axis, i) => axis === i)) return value;
  return add("Transpose", [value], { attributes: { perm: ints(...perm) } }).output;
}
