import { sameDim } from "../../graph/dim.ts";
import type { Node } from "../../graph/node.ts";
import { type Refusal, refuse } from "../../rewrite/rule.ts";

/**
 * Why a LayerNormalization is not of the kind that fused operators compute: over the last axis alone, with gain and offset
 * as vectors, its statistics read by nobody. Undefined when it is.
 */
export function whyNotFusable(node: Node): Refusal | undefined {
  const [x, gamma, beta] = node.inputs;
  const rank = x?.shape?.length ?? 0;
  const axis = node.int("axis") ?? -1;
  if (axis !== -1 && axis !== rank - 1) return refuse("it does not normalize the last axis alone", node);
  if (node.outputs.slice(1).some((output) => output?.users.size)) return refuse("its statistics are read", node);
  const isVector = [gamma, beta].every(
    (each) => !each || (each.shape?.length === 1 && sameDim(each.shape[0], x?.shape?.at(-1))),
  );
  return isVector ? undefined : refuse("gain or offset is not a vector of the last axis", node);
}
