import { ints } from "../../graph/attribute.ts";
import { any, bind, op } from "../../rewrite/pattern.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

/** Merges two Transposes: Transpose(Transpose(x, p), q) = Transpose(x, p∘q). */
export const mergeTransposesRule: Rule = rule("transpose", {
  roots: ["Transpose"],
  pattern: op("Transpose", [bind("inner", op("Transpose", [any("x")]))]),
  shared: ["inner"],
  rewrite({ root, value, add }) {
    const [inner, outer] = [value("inner").producer?.ints("perm"), root.ints("perm")];
    if (!inner || !outer) return undefined;
    return add("Transpose", [value("x")], { attributes: { perm: ints(...outer.map((axis) => inner[axis] ?? 0)) } })
      .output;
  },
});
