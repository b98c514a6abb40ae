import { int, type Node, type Value } from "../../graph/node.ts";
import { int64s, numbersOf, tensorFromNumbers } from "../../graph/tensor.ts";
import { type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { normalizeAxis } from "../../shapes/shape-rule.ts";

/** First opset whose Split reads its sizes from an input. */
const SPLIT_WITH_INPUT = 13;

/**
 * Takes a part from a Split instead of a sequence: SequenceAt(SplitToSequence(x), i) = Split(x)[i]. PyTorch's exporter
 * writes `chunk` and `split` as sequences if it does not optimize the graph.
 */
export const sequencePartRule: Rule = rule("sequence part", {
  roots: ["SequenceAt"],
  check({ root }) {
    const [sequence, index] = root.inputs;
    const split = sequence?.producer;
    return split?.is("SplitToSequence") && index?.constant && { split, at: numbersOf(index.constant)[0] ?? 0 };
  },
  rewrite({ graph, root, add, constant }, { split, at }) {
    if ((graph.opsets.get("") ?? 0) < SPLIT_WITH_INPUT)
      return refuse(`before opset ${SPLIT_WITH_INPUT}, Split has no input for sizes`, root);
    // If other nodes read the sequence, SplitToSequence stays in the graph, and x would be split twice.
    const takesPart = (user: Node) => user.is("SequenceAt") && user.inputs[1]?.constant;
    if (graph.isOutput(split.output) || ![...split.output.users].every(takesPart))
      return refuse("the sequence is also read as a whole", split);
    const sizes = partSizes(split);
    const name = split.origin;
    if (sizes?.at(at) === undefined) return refuse("the sizes of the parts are unknown", split);
    const parts = add("Split", [split.inputs[0], constant(`${name}/sizes`, int64s(...sizes))], {
      outputs: sizes.map((_, i) => `${name}/part${i}`),
      attributes: { axis: int(split.int("axis") ?? 0) },
    });
    return parts.outputs.at(at) as Value;
  },
});

/** Returns the sizes of all parts; undefined if they are not known. A scalar `split` is the size of every part except the last. */
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

/** Writes the last axis of Slice as −1. */
export const lastAxisOfSliceRule: Rule = rule("last axis", {
  roots: ["Slice"],
  check({ root: { inputs } }) {
    const [x, , , axes] = inputs;
    const last = (x?.shape?.length ?? 0) - 1;
    return last > 0 && axes?.constant && numbersOf(axes.constant).join() === `${last}` && axes.constant.dtype;
  },
  rewrite({ root, add, constant }, dtype) {
    const [x, starts, ends, , steps] = root.inputs;
    const axes = constant(`${root.origin}/axes`, tensorFromNumbers(dtype, [1], [-1]));
    return add("Slice", [x, starts, ends, axes, steps]).output;
  },
});

/** Writes the last axis of Split as −1. */
export const lastAxisOfSplitRule: Rule = rule("last axis", {
  roots: ["Split"],
  check({ root }) {
    const last = (root.inputs[0]?.shape?.length ?? 0) - 1;
    return last > 0 && root.int("axis") === last;
  },
  rewrite({ graph, root, add }) {
    const output = root.outputs.find((value) => value && graph.isOutput(value));
    if (output) return refuse(`${output.name} is an output of the model`, root);
    const outputs = root.outputs.map((value) => (value ? `${value.name}/part` : ""));
    const split = add("Split", root.inputs, { outputs, attributes: { ...root.attributes, axis: int(-1) } });
    return root.outputs.flatMap((value, i) => {
      const part = split.outputs[i];
      return value && part ? [[value, part] as const] : [];
    });
  },
});
