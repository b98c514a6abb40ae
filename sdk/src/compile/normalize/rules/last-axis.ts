import { int } from "../../graph/attribute.ts";
import { numbersOf, tensorFromNumbers } from "../../graph/tensor.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

/** Writes the last axis of Split and Slice as −1. */
export const lastAxisRule: Rule = rule("last axis", {
  roots: ["Split", "Slice"],
  rewrite({ graph, root, add, constant }) {
    const [x, starts, ends, axes, steps] = root.inputs;
    const last = (x?.shape?.length ?? 0) - 1;
    if (last < 1) return undefined;
    if (root.is("Slice")) {
      if (!axes?.constant || numbersOf(axes.constant).join() !== `${last}`) return undefined;
      return add("Slice", [
        x,
        starts,
        ends,
        constant(`${root.origin}/axes`, tensorFromNumbers(axes.constant.dtype, [1], [-1])),
        steps,
      ]).output;
    }
    if ((root.int("axis") ?? 0) !== last || root.outputs.some((value) => value && graph.isOutput(value)))
      return undefined;
    const outputs = root.outputs.map((value) => (value ? `${value.name}/part` : ""));
    const split = add("Split", root.inputs, { outputs, attributes: { ...root.attributes, axis: int(-1) } });
    return root.outputs.flatMap((value, i) => {
      const part = split.outputs[i];
      return value && part ? [[value, part] as const] : [];
    });
  },
});
