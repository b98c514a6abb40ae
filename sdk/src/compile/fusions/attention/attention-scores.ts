import { sameDim } from "../../graph/dim.ts";
import type { Node, Value } from "../../graph/node.ts";
import { uniformValue } from "../../graph/tensor-math.ts";
import { Refusal, refuse } from "../../rewrite/rule.ts";

/** A mask or bias that changes scores before the softmax. */
export type ScoreMask =
  /** Adds `value` · `factor`. */
  | { readonly kind: "add"; readonly value: Value; readonly factor: number; readonly node: Node }
  /** Keeps the scores where the value of `condition` equals `kept`. Replaces all other scores by `fill`. */
  | {
      readonly kind: "select";
      readonly condition: Value;
      readonly kept: 0 | 1;
      readonly fill: number;
      readonly node: Node;
    };

/** The parts of softmax(mask(scale · q · kᵀ)). */
export interface AttentionScores {
  readonly q: Value;
  readonly k: Value;
  /** Whether the last axis of `k` is the sequence. */
  readonly transposed: boolean;
  readonly scale: number;
  readonly masking: readonly ScoreMask[];
  /** Masks that set probabilities to 0 after the softmax. */
  readonly zeroing: readonly ScoreMask[];
  /** Whether NaN is replaced by 0 after the softmax. A row whose scores are all −∞ gives NaN. */
  readonly guarded: boolean;
  /** All nodes from the scores to the probabilities. */
  readonly nodes: readonly Node[];
}

/** Maximum fill value that counts as hiding a key. */
const MAX_HIDDEN = -9000;

/**
 * Traces attention probabilities back to queries and keys.
 *
 * @param opset opset of the graph. It determines the default axis of Softmax: 1 before opset 13, −1 since then.
 * @returns undefined if the value is not attention probabilities
 */
export function attentionScores(probabilities: Value, opset: number): AttentionScores | Refusal | undefined {
  const nodes: Node[] = [];
  const zeroing: ScoreMask[] = [];
  let guarded = false;
  let value = probabilities;
  for (;;) {
    const node = value.producer;
    if (node?.domain !== "") return undefined;
    nodes.push(node);
    if (node.is("Softmax")) break;
    const unguarded = behindGuard(node);
    guarded ||= unguarded !== undefined;
    const moved = node.is("Reshape") ? behindReshapes(value, nodes) : undefined;
    if (moved instanceof Refusal) return leadsToSoftmax(value) ? moved : undefined;
    const next = unguarded ?? moved ?? behindZeroing(node, zeroing) ?? (node.is("Cast") ? node.inputs[0] : undefined);
    if (!next) return undefined;
    value = next;
  }
  const softmax = nodes.at(-1) as Node;
  const rank = softmax.inputs[0]?.shape?.length ?? 0;
  const axis = softmax.int("axis") ?? (opset < 13 ? 1 : -1);
  if (axis !== -1 && axis !== rank - 1) return refuse("Softmax is not over the last axis", softmax);
  const masking: ScoreMask[] = [];
  const matMul = behindMasking(softmax.inputs[0], 1, masking, nodes);
  if (matMul instanceof Refusal) return matMul;
  const [q, k] = matMul.node.inputs;
  return q && k ? { q, k, transposed: true, scale: matMul.factor, masking, zeroing, guarded, nodes } : undefined;
}

/** If a node is Where(isNaN(p), 0, p), returns p. p is NaN for queries whose keys are all hidden. */
function behindGuard(node: Node): Value | undefined {
  const [test, yes, no] = node.is("Where") ? node.inputs : [];
  const isGuard = test?.producer?.is("IsNaN") && test.producer.inputs[0] === no && yes && uniformValue(yes) === 0;
  return isGuard ? no : undefined;
}

/**
 * If a node is Where(mask, p, 0) or Where(mask, 0, p), returns p and adds the mask to `zeroing`. Such a node masks the
 * probabilities p a second time.
 */
function behindZeroing(node: Node, zeroing: ScoreMask[]): Value | undefined {
  if (!node.is("Where")) return undefined;
  const [condition, yes, no] = node.inputs;
  if (!condition || !yes || !no) return undefined;
  const kept = uniformValue(no) === 0 ? 1 : uniformValue(yes) === 0 ? 0 : undefined;
  if (kept === undefined) return undefined;
  zeroing.push({ kind: "select", condition, kept, fill: 0, node });
  return kept === 1 ? yes : no;
}

function behindMasking(
  value: Value | undefined,
  factor: number,
  masking: ScoreMask[],
  nodes: Node[],
): { node: Node; factor: number } | Refusal {
  const node = value?.producer;
  if (!value || !node) return refuse("the input of the softmax is not a product of queries and keys");
  if (node.domain !== "")
    return refuse(`${node.opType} is between the MatMul of queries and keys and the softmax`, node);
  nodes.push(node);
  const [a, b, c] = node.inputs;
  switch (node.opType) {
    case "MatMul":
      return { node, factor };
    case "Reshape": {
      const source = behindReshapes(value, nodes);
      return source instanceof Refusal ? source : behindMasking(source, factor, masking, nodes);
    }
    case "Cast":
      return behindMasking(a, factor, masking, nodes);
    case "Mul":
    case "Div": {
      const constant = b && uniformValue(b);
      if (constant !== undefined) {
        return behindMasking(a, node.opType === "Mul" ? factor * constant : factor / constant, masking, nodes);
      }
      const first = node.opType === "Mul" && a ? uniformValue(a) : undefined;
      if (first !== undefined) return behindMasking(b, factor * first, masking, nodes);
      return refuse(`${node.opType} combines the scores with ${b?.name}, which is not a scalar constant`, node);
    }
    case "Add": {
      const [scores, other] = leadsToScores(a) ? [a, b] : [b, a];
      if (!leadsToScores(scores) || !other)
        return refuse("neither input of Add is a product of queries and keys, scaled or masked", node);
      if (leadsToScores(other)) return refuse("the scores are the sum of two MatMuls", node);
      masking.push({ kind: "add", value: other, factor, node });
      return behindMasking(scores, factor, masking, nodes);
    }
    case "Where": {
      const fills = [b, c].map((branch) => branch && uniformValue(branch));
      const at = fills.findIndex((fill) => fill !== undefined && fill <= MAX_HIDDEN);
      if (at < 0 || !a) return refuse("Where does not replace scores by a large negative number", node);
      masking.push({ kind: "select", condition: a, kept: at === 0 ? 0 : 1, fill: fills[at] as number, node });
      return behindMasking(at === 0 ? c : b, factor, masking, nodes);
    }
    default:
      return refuse(`${node.opType} is between the MatMul of queries and keys and the softmax`, node);
  }
}

/**
 * Walks back over a chain of Reshapes that together keep the last two axes, such as [batch, heads, queries, keys] →
 * [batch, heads, queries, keys, 1] → [batch · heads, queries, keys]. Adds the Reshapes to `nodes`, except the one that computes
 * `value`.
 */
function behindReshapes(value: Value, nodes: Node[]): Value | Refusal {
  const chain: Node[] = [];
  for (let node = value.producer; node?.is("Reshape"); node = node.inputs[0]?.producer) {
    chain.push(node);
    const source = node.inputs[0];
    if (source && [-1, -2].every((axis) => sameDim(source.shape?.at(axis), value.shape?.at(axis)))) {
      nodes.push(...chain.slice(1));
      return source;
    }
  }
  return refuse("Reshape changes the last two axes of the scores", chain[0]);
}

/** Whether a value is the result of a Softmax, possibly reshaped, cast or masked. */
function leadsToSoftmax(value: Value | undefined): boolean {
  for (let at = value; at?.producer; ) {
    const node: Node = at.producer;
    if (node.is("Softmax")) return true;
    if (!node.is("Reshape") && !node.is("Cast")) return false;
    at = node.inputs[0];
  }
  return false;
}

/** Maximum number of values to search for the MatMul before a softmax. */
const MAX_VALUES = 64;

/** Whether a value is the result of a MatMul of two computed tensors, possibly after masking and scaling. */
function leadsToScores(value: Value | undefined): boolean {
  const next = [value];
  const seen = new Set<Value>();
  for (let at = next.pop(); next.length > 0 || at; at = next.pop()) {
    const node = at?.producer;
    if (!at || node?.domain !== "" || seen.has(at) || seen.size > MAX_VALUES) continue;
    seen.add(at);
    const [a, b, c] = node.inputs;
    const isScaling = (input: Value | undefined) => input !== undefined && uniformValue(input) !== undefined;
    if (node.is("MatMul") && !a?.isConstant && !b?.isConstant && (at.shape?.length ?? 0) >= 3 && !isOuterProduct(node))
      return true;
    if (node.is("Cast") || node.is("Reshape")) next.push(a);
    else if ((node.is("Mul") || node.is("Div")) && isScaling(b)) next.push(a);
    else if (node.is("Mul") && isScaling(a)) next.push(b);
    else if (node.is("Add")) next.push(a, b);
    else if (node.is("Where")) next.push(b, c);
  }
  return false;
}

/** Whether a MatMul sums over an axis of size 1. Such a MatMul computes rotary angles, not scores. */
const isOuterProduct = ({ inputs: [a] }: Node) => a?.shape?.at(-1) === 1;
