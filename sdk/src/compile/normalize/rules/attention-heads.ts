import { ints } from "../../graph/attribute.ts";
import type { Value } from "../../graph/node.ts";
import { int64s } from "../../graph/tensor.ts";
import { type Rewrite, type Rule, rule } from "../../rewrite/rule.ts";

/**
 * Attention of opset 23 can split its inputs into heads and merge the result. This rule adds separate nodes for both:
 * Attention on [batch, sequence, heads · size] = merge(Attention on [batch, heads, sequence, size]).
 */
export const attentionHeadsRule: Rule = rule("attention heads", {
  roots: ["Attention"],
  rewrite(rewrite) {
    const { root, add, constant } = rewrite;
    const [q, k, v, ...others] = root.inputs;
    const { q_num_heads: queries, kv_num_heads: keys, ...attributes } = root.attributes;
    const isFlat = [q, k, v].every((value) => value?.shape?.length === 3);
    if (!q || !k || !v || !isFlat || queries?.kind !== "int" || keys?.kind !== "int" || root.outputs.length > 1)
      return undefined;
    const heads = [split(rewrite, q, queries.value), split(rewrite, k, keys.value), split(rewrite, v, keys.value)];
    const context = add("Attention", [...heads, ...others], { attributes }).output;
    const moved = add("Transpose", [context], { attributes: { perm: ints(0, 2, 1, 3) } }).output;
    return add("Reshape", [moved, constant(`${root.origin}/joined`, int64s(0, 0, -1))]).output;
  },
});

function split({ root, add, constant }: Rewrite, value: Value, heads: number): Value {
  const perHead = add("Reshape", [value, constant(`${root.origin}/heads`, int64s(0, 0, heads, -1))]).output;
  return add("Transpose", [perHead], { attributes: { perm: ints(0, 2, 1, 3) } }).output;
}
