import { int } from "../../graph/attribute.ts";
import type { Node } from "../../graph/node.ts";
import { int64s, numbersOf } from "../../graph/tensor.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";
import { normalizeAxis } from "../../shapes/shape-rule.ts";

/** First opset whose Split reads its sizes from an input. */
const SPLIT_WITH_INPUT = 13;

/**
 * Takes a part from a Split instead of a sequence: SequenceAt(SplitToSequence(x), i) = Split(x)[i]. PyTorch's exporter
 * writes `chunk` and `split` as sequences if it does not optimize the graph.
 */
export const sequencePartRule: Rule = rule("sequence part", {
  roots: ["SequenceAt"],
  rewrite({ graph, root, add, constant }) {
    const [sequence, index] = root.inputs;
    const split = sequence?.producer;
    if (!split?.is("SplitToSequence") || !index?.constant || (graph.opsets.get("") ?? 0) < SPLIT_WITH_INPUT) return;
    // A sequence that other nodes read stays, and x would be split twice.
    if ([...split.output.users].some((user) => !user.is("SequenceAt") || !user.inputs[1]?.constant)) return;
    const sizes = partSizes(split) ?? [];
    const [at = 0] = numbersOf(index.constant);
    if (sizes.at(at) === undefined || graph.isOutput(split.output)) return;
    const name = split.origin;
    const outputs = sizes.map((_, i) => `${name}/part${i}`);
    const parts = add("Split", [split.inputs[0], constant(`${name}/sizes`, int64s(...sizes))], {
      outputs,
      attributes: { axis: int(split.int("axis") ?? 0) },
    });
    return parts.outputs.at(at);
  },
});

/** Returns the sizes of all parts; undefined if they are not known. A scalar `split` is the size of all but the last. */
function partSizes(split: Node): readonly number[] | undefined {
  const [x, sizes] = split.inputs;
  const whole = x?.shape?.[normalizeAxis(split.int("axis") ?? 0, x.shape.length)];
  if (!sizes?.constant || typeof whole !== "number") return undefined;
  const given = numbersOf(sizes.constant);
  if (sizes.constant.shape.length > 0) return given;
  const [size = 0] = given;
  if (!(size > 0 && whole / size <= MAX_PARTS)) return undefined;
  return Array.from({ length: Math.ceil(whole / size) }, (_, i) => Math.min(size, whole - i * size));
}

/** Maximum number of parts. Encoders have two or three. */
const MAX_PARTS = 64;
