import { int } from "../../graph/attribute.ts";
import { type Dim, sameDim, symbolOf } from "../../graph/dim.ts";
import type { Value } from "../../graph/node.ts";
import { int64s, type Tensor, tensorFromNumbers } from "../../graph/tensor.ts";
import { Refusal, type Rewrite, refuse } from "../../rewrite/rule.ts";
import { castToInt32 } from "../shared/cast-to-int32.ts";
import { sumTerms } from "../shared/sum-terms.ts";
import type { AttentionScores, ScoreMask } from "./attention-scores.ts";
import { paddingMask } from "./padding-mask.ts";

/** What is passed to a fused attention operator besides its projections. */
export interface AttentionMask {
  /** 1 for keys that are attended [batch, sequence], int32: padding on either side stays padding. */
  readonly keys: Value | undefined;
  /** What is added to hidden scores. */
  readonly fill: number | undefined;
  /** Added to scores [batch or 1, heads or 1, sequence, sequence]. */
  readonly bias: Value | undefined;
}

/** float32 has nothing below; −∞ would make NaN of rows without any key. */
const LOWEST = -3.4028234663852886e38;

/**
 * Sorts what is done to scores into a mask of keys and a bias: padding masks are recognised by what they compute, everything
 * else is added as it is.
 *
 * @param batch of the queries: the operators do not repeat one mask for all texts
 * @returns undefined until the masks have been probed
 */
export function attentionMask(
  rewrite: Rewrite,
  { masking, zeroing, q, k, transposed }: AttentionScores,
  heads: number,
  batch: Dim | undefined,
): AttentionMask | Refusal | undefined {
  const steps = masking.flatMap((step) => parts(step));
  const kinds = [...steps, ...zeroing].map((step) => rewrite.ask(paddingMask, subject(step)));
  if (kinds.includes(undefined)) return undefined;
  let keys: Value | undefined;
  let fill: number | undefined;
  const biases: Value[] = [];
  for (const [i, step] of steps.entries()) {
    const kind = kinds[i];
    if (kind?.kind === "none") continue;
    const isOnly = kind?.kind === "padding" && (!keys || keys === kind.input);
    if (isOnly && isOneSize(kind.input.shape?.[0], batch) && isPadding(step, kind.attended)) {
      keys = kind.input;
      fill = Math.max(fill ?? LOWEST, LOWEST, step.kind === "add" ? (kind.fill ?? LOWEST) * step.factor : step.fill);
      continue;
    }
    const bias = step.kind === "add" ? addedBias(rewrite, step) : selectedBias(rewrite, step);
    if (bias instanceof Refusal) return bias;
    biases.push(bias);
  }
  for (const [i, step] of zeroing.entries()) {
    const kind = kinds[steps.length + i];
    if (kind?.kind !== "padding" || kind.input !== keys || step.kind !== "select" || step.kept !== kind.attended) {
      return refuse("probabilities are set to 0 after the softmax where they were not masked before", step.node);
    }
  }
  const lengths: Lengths = { queries: q.shape?.at(-2), keys: k.shape?.at(transposed ? -1 : -2) };
  if (keys && !isOneSize(keys.shape?.[1], lengths.keys)) {
    return refuse(`${keys.name} is not as long as the keys`, rewrite.root);
  }
  const [first, ...rest] = biases;
  const total = first && rest.reduce((a, b) => rewrite.add("Add", [a, b]).output, first);
  const bias = total && expandedBias(rewrite, total, heads, lengths, q);
  if (bias instanceof Refusal) return bias;
  return { keys: keys && castToInt32(rewrite, keys), fill: keys && fill, bias };
}

/** Two symbols may be one size that the exporter did not recognise: they must be, for the mask to fit the scores. */
const isOneSize = (a: Dim | undefined, b: Dim | undefined): boolean =>
  sameDim(a, b) || (symbolOf(a) !== undefined && symbolOf(b) !== undefined);

interface Lengths {
  readonly queries: Dim | undefined;
  readonly keys: Dim | undefined;
}

const subject = (step: ScoreMask): Value => (step.kind === "add" ? step.value : step.condition);

/** A sum of masks is looked at term by term: a padding mask may have been added to a relative-position bias. */
const parts = (step: ScoreMask): ScoreMask[] =>
  step.kind === "add" ? sumTerms(step.value).map((value) => ({ ...step, value })) : [step];

const isPadding = (step: ScoreMask, attended: number | undefined) =>
  step.kind === "add" ? attended === undefined : step.kept === attended;

function addedBias(
  { add, constant, root }: Rewrite,
  { value, factor, node }: ScoreMask & { kind: "add" },
): Value | Refusal {
  if (value.dtype !== "float32" && value.dtype !== "float16")
    return refuse("what is added to scores is not a number", node);
  if (factor === 1) return value;
  return add("Mul", [value, constant(`${root.origin}/factor`, scalar(value, factor))]).output;
}

/** Where(condition, scores, fill) = scores + Where(condition, 0, fill), as far as a hidden score's own value is lost. */
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

/** [batch or 1, heads or 1, queries, keys], as the operators want it. */
function expandedBias(
  { add, constant, root }: Rewrite,
  bias: Value,
  heads: number,
  { queries, keys }: Lengths,
  q: Value,
): Value | Refusal {
  const unknown = refuse("the shape of what is added to scores is not known", bias.producer ?? root);
  const shape = bias.shape;
  if (!shape || shape.length > 4) return unknown;
  const full: Dim[] = [...Array(4 - shape.length).fill(1), ...shape];
  if (full[1] !== 1 && full[1] !== heads) {
    return refuse("what is added to scores is not per head", bias.producer ?? root);
  }
  // A target of ones adds the leading axes, and no more.
  const ones = constant(`${root.origin}/axes`, int64s(1, 1, 1, 1));
  const four = shape.length === 4 ? bias : add("Expand", [bias, ones]).output;
  if (sameDim(full[2], queries) && sameDim(full[3], keys)) return four;
  // One row for all queries, repeated: only self-attention, whose lengths are both the queries'.
  if (!sameDim(queries, keys) || q.shape?.length !== 4) return unknown;
  const [from, to, one] = [int64s(2), int64s(3), int64s(1, 1)].map((each) => constant(`${root.origin}/square`, each));
  const length = add("Slice", [add("Shape", [q]).output, from, to]).output;
  const square = add("Concat", [one, length, length], { attributes: { axis: int(0) } }).output;
  return add("Expand", [four, square]).output;
}
