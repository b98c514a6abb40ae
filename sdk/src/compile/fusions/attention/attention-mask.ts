import { type Dim, sameDim, symbolMultiple, symbolOf } from "../../graph/dim.ts";
import { int, type Value } from "../../graph/node.ts";
import { int64s, type Tensor, tensorFromNumbers } from "../../graph/tensor.ts";
import { Refusal, type Rewrite, refuse, UNANSWERED } from "../../rewrite/rule.ts";
import { castToInt32, sumTerms } from "../../rewrite/values.ts";
import type { AttentionScores, ScoreMask } from "./attention-scores.ts";
import { paddingMask } from "./padding-mask.ts";

/** The mask and bias inputs of a fused attention operator. */
export interface AttentionMask {
  /** Attention mask [batch, sequence], int32: 1 for tokens, 0 for padding. */
  readonly keys: Value | undefined;
  /** Number that is added to the scores of hidden keys. */
  readonly fill: number | undefined;
  /** Bias added to the scores, [batch or 1, heads or 1, sequence, sequence]. */
  readonly bias: Value | undefined;
}

/** Minimum float32, used instead of −∞. With −∞, the softmax gives NaN for a query whose keys are all hidden. */
const LOWEST = -3.4028234663852886e38;

/**
 * Divides the masks on attention scores into a padding mask and a bias. Padding masks are recognized by their values;
 * all other masks become part of the bias.
 *
 * @param batch batch size of the queries. A padding mask must have the same batch size, because fused operators do not
 *   broadcast padding masks.
 */
export function attentionMask(
  rewrite: Rewrite,
  { masking, zeroing, q, k, transposed }: AttentionScores,
  heads: number,
  batch: Dim | undefined,
): AttentionMask | Refusal {
  const masks = masking.flatMap((mask) => splitTerms(mask));
  const kinds = [...masks, ...zeroing].map((mask) => rewrite.ask(paddingMask, maskValue(mask)));
  if (kinds.includes(undefined)) return UNANSWERED;
  let keys: Value | undefined;
  let fill: number | undefined;
  const biases: Value[] = [];
  for (const [i, mask] of masks.entries()) {
    const kind = kinds[i];
    if (kind?.kind === "none") continue;
    const isOnly = kind?.kind === "padding" && (!keys || keys === kind.input);
    if (isOnly && isOneSize(kind.input.shape?.[0], batch) && isPadding(mask, kind.attended)) {
      keys = kind.input;
      fill = Math.max(fill ?? LOWEST, LOWEST, mask.kind === "add" ? (kind.fill ?? LOWEST) * mask.factor : mask.fill);
      continue;
    }
    const bias = mask.kind === "add" ? addedBias(rewrite, mask) : selectedBias(rewrite, mask);
    if (bias instanceof Refusal) return bias;
    const four = withFourAxes(rewrite, bias, heads);
    if (four instanceof Refusal) return four;
    biases.push(four);
  }
  for (const [i, mask] of zeroing.entries()) {
    const kind = kinds[masks.length + i];
    if (kind?.kind !== "padding" || kind.input !== keys || mask.kind !== "select" || mask.kept !== kind.attended) {
      return refuse("probabilities are set to 0 after the softmax for keys that are not masked before it", mask.node);
    }
  }
  const lengths: Lengths = { queries: q.shape?.at(-2), keys: k.shape?.at(transposed ? -1 : -2) };
  if (keys && !isOneSize(keys.shape?.[1], lengths.keys)) {
    return refuse(`the mask ${keys.name} and the keys have different lengths`, rewrite.root);
  }
  const [first, ...rest] = biases;
  const total = first && rest.reduce((a, b) => rewrite.add("Add", [a, b]).output, first);
  const bias = total && expandedBias(rewrite, total, heads, lengths, q);
  if (bias instanceof Refusal) return bias;
  return { keys: keys && castToInt32(rewrite, keys), fill: keys && fill, bias };
}

/**
 * Whether a size of a mask can equal a size of the scores. Two different symbols count as equal, because exporters
 * sometimes give the same size two names.
 */
const isOneSize = (a: Dim | undefined, b: Dim | undefined): boolean =>
  sameDim(a, b) || (symbolOf(a) !== undefined && symbolOf(b) !== undefined);

interface Lengths {
  readonly queries: Dim | undefined;
  readonly keys: Dim | undefined;
}

const maskValue = (mask: ScoreMask): Value => (mask.kind === "add" ? mask.value : mask.condition);

/** Splits a sum of masks into its terms, such as a padding mask and a relative-position bias. */
const splitTerms = (mask: ScoreMask): ScoreMask[] =>
  mask.kind === "add" ? sumTerms(mask.value).map((value) => ({ ...mask, value })) : [mask];

const isPadding = (mask: ScoreMask, attended: number | undefined) =>
  mask.kind === "add" ? attended === undefined : mask.kept === attended;

function addedBias(
  { add, constant, root }: Rewrite,
  { value, factor, node }: ScoreMask & { kind: "add" },
): Value | Refusal {
  if (value.dtype !== "float32" && value.dtype !== "float16")
    return refuse("the bias on the scores is not float32 or float16", node);
  if (factor === 1) return value;
  return add("Mul", [value, constant(`${root.origin}/factor`, scalar(value, factor))]).output;
}

/**
 * Returns Where(condition, 0, fill), a bias that replaces Where(condition, scores, fill). Both give a hidden key the
 * probability 0, because `fill` is a large negative number.
 */
function selectedBias(
  { add, constant, root }: Rewrite,
  { condition, kept, fill, node }: ScoreMask & { kind: "select" },
): Value {
  const [zero, hidden] = [0, fill].map((value) =>
    constant(`${root.origin}/${value === 0 ? "zero" : "hidden"}`, scalar(node.output, value)),
  );
  return add("Where", kept === 1 ? [condition, zero, hidden] : [condition, hidden, zero]).output;
}

const scalar = ({ dtype }: Value, value: number): Tensor =>
  tensorFromNumbers(dtype === "float16" ? "float16" : "float32", [], [value]);

/** Adds leading axes of 1 to a bias, up to four axes. Divides an axis of batch · heads into two. */
function withFourAxes({ add, constant, root }: Rewrite, bias: Value, heads: number): Value | Refusal {
  const { shape } = bias;
  if (!shape || shape.length > 4)
    return refuse("the shape of the bias on the scores is unknown", bias.producer ?? root);
  // Expanding to [1, 1, 1, 1] repeats no elements. It only adds leading axes.
  const ones = constant(`${root.origin}/axes`, int64s(1, 1, 1, 1));
  const four = shape.length === 4 ? bias : add("Expand", [bias, ones]).output;
  const isJoined = shape.length === 3 && shape[0] !== heads && symbolMultiple(shape[0])?.factor === heads;
  const divided = constant(`${root.origin}/batch_and_heads`, int64s(-1, heads, 0, 0));
  return isJoined ? add("Reshape", [four, divided]).output : four;
}

/** Expands a bias [any, any, queries or 1, keys] to [batch or 1, heads or 1, queries, keys]. */
function expandedBias(
  { add, constant, root }: Rewrite,
  bias: Value,
  heads: number,
  { queries, keys }: Lengths,
  q: Value,
): Value | Refusal {
  const unknown = refuse("the shape of the bias on the scores is unknown", bias.producer ?? root);
  const [, ofHeads, rows, columns] = bias.shape ?? [];
  if (ofHeads !== 1 && ofHeads !== heads) {
    return refuse("the second axis of the bias on the scores is not the number of heads", bias.producer ?? root);
  }
  if (sameDim(rows, queries) && sameDim(columns, keys)) return bias;
  // A bias with a single row is repeated for all queries. This is only supported for self-attention, where the number
  // of queries equals the number of keys.
  if (!sameDim(queries, keys) || q.shape?.length !== 4) return unknown;
  const [from, to, one] = [int64s(2), int64s(3), int64s(1, 1)].map((each) => constant(`${root.origin}/square`, each));
  const length = add("Slice", [add("Shape", [q]).output, from, to]).output;
  const square = add("Concat", [one, length, length], { attributes: { axis: int(0) } }).output;
  return add("Expand", [bias, square]).output;
}
