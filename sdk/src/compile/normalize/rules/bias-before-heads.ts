import { sameDim } from "../../graph/dim.ts";
import type { Value } from "../../graph/node.ts";
import { elementCount, reshaped } from "../../graph/tensor.ts";
import { any, bind, constant, oneOf, op, sum } from "../../rewrite/pattern.ts";
import type { Rewrite, Rule } from "../../rewrite/rule.ts";
import { rule } from "../../rewrite/rule.ts";
import { reshapeTarget } from "../reshape-target.ts";

const [reshape, scale] = [op("Reshape", [any("x")]), constant("scale")];
const heads = oneOf(reshape, op("Mul", [reshape, scale]), op("Mul", [scale, reshape]));

/**
 * Adds a bias before the Reshape that splits heads, instead of after it:
 * Reshape(x: […, h · d] → […, h, d]) · c + b: [h, d] = Reshape(x · c + b: [h · d]).
 *
 * Some exporters store weights and biases per head. Others scale queries before they add a bias.
 */
export const biasBeforeHeadsRule: Rule = rule("bias before heads", {
  roots: ["Add"],
  pattern: sum(bind("heads", heads), constant("bias")),
  shared: ["heads"],
  rewrite({ value, maybe, root, add, constant }: Rewrite): Value | undefined {
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
    const scale = maybe("scale");
    const isScalar = (sizes: readonly number[]) => elementCount(sizes) === 1 && sizes.length <= (x.shape?.length ?? 0);
    if (scale && !isScalar(scale.constant?.shape ?? [])) return undefined;
    const scaled = scale ? add("Mul", [x, scale]).output : x;
    const flat = constant(`${root.name}/bias`, reshaped(bias.constant, [width]));
    return add("Reshape", [add("Add", [scaled, flat]).output, constant(`${root.name}/heads`, target)]).output;
  },
});
