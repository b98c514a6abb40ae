import { sameDim } from "../../graph/dim.ts";
import { isView } from "../../graph/operators.ts";
import { movementSources } from "../../layout/index-map.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

const floats: readonly (string | undefined)[] = ["float16", "bfloat16", "float32"];

/**
 * Casts floats before they are moved: Cast(Transpose(x)) = Transpose(Cast(x)). Models in half precision cast heads, for
 * example to rotate them in float32. The heads then start from the cast linear layer.
 */
export const castBeforeMovementRule: Rule = rule("cast before movement", {
  roots: ["Cast"],
  rewrite({ graph, root, add }) {
    const [moved] = root.inputs;
    const movement = moved?.producer;
    const [x, ...others] = movement?.inputs ?? [];
    if (!movement || !x || x.isConstant) return undefined;
    if (!floats.includes(x.dtype) || !floats.includes(root.output.dtype)) return undefined;
    // The heads of attention are merged before the cast, because fused attention includes the merge.
    const origin = movementSources(moved).at(-1)?.producer;
    if (origin?.is("MatMul") && origin.inputs.every((input) => !input?.isConstant)) return undefined;
    // Selecting texts or tokens comes first, so that fewer elements are cast. Selected columns can become fewer weights.
    const selectsColumns =
      /^(Slice|Gather)$/.test(movement.opType) &&
      [0, 1].every((axis) => sameDim(x.shape?.[axis] ?? 0, moved.shape?.[axis] ?? 1));
    // A second view costs nothing. Other movements are not done twice.
    const isRead = moved.users.size > 1 || graph.isOutput(moved);
    if (!isView(movement) && (isRead || !(movement.is("Transpose") || selectsColumns))) return undefined;
    const cast = add("Cast", [x], { attributes: root.attributes }).output;
    return add(movement.opType, [cast, ...others], { attributes: movement.attributes }).output;
  },
});
