import { sameDim } from "../../graph/dim.ts";
import type { Node } from "../../graph/node.ts";
import { type Refusal, refuse } from "../../rewrite/rule.ts";

/**
 * Returns the reason why fused operators cannot contain a normalization; undefined if they can:
 *
 * - The node normalizes only the last axis.
 * - Gamma and beta are vectors.
 * - No node reads its other outputs, the mean and the deviation.
 */
export function whyNotFusable(node: Node): Refusal | undefined {
  const [x, gamma, beta] = node.inputs;
  const rank = x?.shape?.length ?? 0;
  const axis = node.int("axis") ?? -1;
  if (axis !== -1 && axis !== rank - 1) return refuse(`${node.opType} is not over the last axis only`, node);
  if (node.outputs.slice(1).some((output) => output?.users.size))
    return refuse(`the mean or deviation of ${node.opType} is read by another node`, node);
  const isVector = [gamma, beta].every(
    (each) => !each || (each.shape?.length === 1 && sameDim(each.shape[0], x?.shape?.at(-1))),
  );
  return isVector ? undefined : refuse("gamma or beta is not a vector as long as the last axis", node);
}
