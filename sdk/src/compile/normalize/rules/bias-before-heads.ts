import { sameDim } from "../../graph/dim.ts";
import type { Value } from "../../graph/node.ts";
import { elementCount, reshaped } from "../../graph/tensor.ts";
import { any, bind, constant, op, sum } from "../../rewrite/pattern.ts";
import type { Rewrite, Rule } from "../../rewrite/rule.ts";
import { rule } from "../../rewrite/rule.ts";
import { reshapeTarget } from "../reshape-target.ts";

/**
 * Adds a bias before the Reshape that splits heads, instead of after it:
 * Reshape(x: […, h · d] → […, h, d]) + b: [h, d] = Reshape(x + b: [h · d]).
 *
 * Some exporters store weights and biases per head.
 */
export const biasBeforeHeadsRule: Rule = rule("bias before heads", {
  roots: ["Add"],
  pattern: sum(bind("heads", op("Reshape", [any("x")])), constant("bias")),
  rewrite({ value, root, add, constant }: Rewrite): Value | undefined {
    const [x, heads, bias] = [value("x"), value("heads"), value("bias")];
    const [width, h, d] = [x.shape?.at(-1), heads.shape?.at(-2), heads.shape?.at(-1)];
    const shape = bias.constant?.shape;
    if (!shape || !bias.constant || typeof h !== "number" || typeof d !== "number") return undefined;
    if (width !== h * d || elementCount(shape) !== width || shape.at(-1) !== d || h === 1) return undefined;
    if (
      x.shape?.length !== (heads.shape?.length ?? 0) - 1 ||
      !x.shape.slice(0, -1).every((dim, i) => sameDim(dim, heads.shape?.[i]))
    )
      return undefined;
    const target = reshapeTarget(x.shape, heads.shape ?? []);
    if (!target) return undefined;
    const flat = constant(`${root.name}/bias`, reshaped(bias.constant, [width]));
    return add("Reshape", [add("Add", [x, flat]).output, constant(`${root.name}/heads`, target)]).output;
  },
});
