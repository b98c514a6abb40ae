import { reshapeOperators } from "../../graph/operators.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";
import { reshapeTarget } from "../reshape-target.ts";

/**
 * Replaces Reshape, Squeeze, Unsqueeze, Flatten and chains of these operators by one Reshape to a constant target, if
 * the shapes are known. The arithmetic that computed the target is then unused.
 */
export const constantReshapeRule: Rule = rule("constant reshape", {
  roots: reshapeOperators,
  rewrite({ root, add, constant }) {
    const [x] = root.inputs;
    if (!x) return undefined;
    const before =
      x.producer?.domain === "" && reshapeOperators.includes(x.producer.opType) ? x.producer.inputs[0] : undefined;
    const sources = before ? [before, x] : [x];
    for (const source of sources) {
      if (!source.shape || !root.output.shape) continue;
      const target = reshapeTarget(source.shape, root.output.shape);
      if (!target) continue;
      if (source === x && root.opType === "Reshape" && root.inputs[1]?.constant && root.int("allowzero") !== 1)
        return undefined;
      return add("Reshape", [source, constant(`${root.name}/shape`, target)]).output;
    }
    return undefined;
  },
});
