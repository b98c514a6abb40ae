import { weightColumns } from "../fusions/attention/head-columns.ts";
import type { Node, Value } from "../graph/node.ts";
import { numbersOf } from "../graph/tensor.ts";
import { any, constant, op } from "../rewrite/pattern.ts";
import { type Rule, rule } from "../rewrite/rule.ts";

/**
 * Repeats heads of keys and values in the weights of their linear layers, instead of after the layers. The edge engine has
 * no operator for the latter.
 *
 * @param origins receives the name of the original weight for each repeated weight
 */
export const repeatedHeadsRule = (origins: Map<string, string>): Rule =>
  rule("repeated heads", {
    roots: ["Reshape"],
    pattern: op("Reshape", [
      op("Gather", [op("Reshape", [any("source")]), constant("heads")], { where: (node) => node.int("axis") === 2 }),
    ]),
    rewrite(rewrite) {
      const { root, value } = rewrite;
      const [source, heads] = [value("source"), numbersOf(value("heads").constant as NonNullable<Value["constant"]>)];
      const size = Number(root.output.shape?.at(-1)) / heads.length;
      if (source.shape?.length !== 3 || root.output.shape?.length !== 3 || !Number.isInteger(size)) return undefined;
      const columns = heads.flatMap((head) => Array.from({ length: size }, (_, i) => head * size + i));
      const selected = weightColumns(rewrite, { source, columns, size });
      const [before, after] = [source, selected].map((value) => layerBefore(value)?.inputs[1]?.name);
      if (before && after) origins.set(after, before);
      return selected;
    },
  });

/** Finds the MatMul before a bias or a rotation. */
function layerBefore(value: Value | undefined): Node | undefined {
  const node = value?.producer;
  return node?.is("MatMul") ? node : node && layerBefore(node.inputs.find((input) => input && !input.isConstant));
}
