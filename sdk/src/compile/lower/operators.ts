import type { ActivationKind } from "../../runtime/engine/wasm/ops/elementwise.ts";
import { MICROSOFT, type Node } from "../graph/node.ts";
import { EDGE } from "../graph/operators.ts";
import { numbersOf, type Tensor, toFloat32 } from "../graph/tensor.ts";
import { lowerAttention, lowerLinearInt8, lowerLookup } from "./integer-operators.ts";
import { normalization, skipNormalization } from "./layer-norms.ts";
import { type LoweringContext, type LowerNode, view } from "./lowering-context.ts";
import { addendOf, haveSameRows, isRow, whole } from "./operands.ts";
import { unsupported } from "./unsupported.ts";

/** Functions that lower a node to engine steps, by domain and operator. */
export const lowerings: Readonly<Record<string, LowerNode>> = {
  [`${MICROSOFT}:GatherBlockQuantized`]: lowerLookup,
  [`${EDGE}:LookupLevels`]: lowerLookup,
  [`${EDGE}:DynamicQuantizeMatMul`]: lowerLinearInt8,
  [`${EDGE}:DynamicQuantizeAttention`]: lowerAttention,
  // No step: the step of the attention that reads these scores also computes them.
  [`${EDGE}:DynamicQuantizePositionScores`]: () => {},
  [`${MICROSOFT}:SkipLayerNormalization`]: (lowering, node) => skipNormalization(lowering, node, "layerNorm"),
  [`${MICROSOFT}:SkipSimplifiedLayerNormalization`]: (lowering, node) => skipNormalization(lowering, node, "rmsNorm"),
  ":LayerNormalization": (lowering, node) => normalization(lowering, node, "layerNorm"),
  ":SimplifiedLayerNormalization": (lowering, node) => normalization(lowering, node, "rmsNorm"),
  ":Add": add,
  ":Mul": multiply,
  ":MatMul": linearF32,
  ":Split": split,
  ":Slice": slice,
  ":IsNaN": () => {},
  ":Where": withoutNaN,
  ":Gather": firstToken,
  ":ReduceMean": meanOfTokens,
  ":Relu": (lowering, node) => activation(lowering, node, "relu"),
  ":Tanh": (lowering, node) => activation(lowering, node, "tanh"),
  ":Sigmoid": (lowering, node) => activation(lowering, node, "sigmoid"),
  ":Gelu": (lowering, node) => activation(lowering, node, node.string("approximate") === "tanh" ? "fastGelu" : "gelu"),
  [`${MICROSOFT}:Gelu`]: (lowering, node) => activation(lowering, node, "gelu"),
  [`${MICROSOFT}:BiasGelu`]: (lowering, node) => activation(lowering, node, "gelu"),
  [`${MICROSOFT}:FastGelu`]: (lowering, node) => activation(lowering, node, "fastGelu"),
  [`${MICROSOFT}:QuickGelu`]: (lowering, node) => activation(lowering, node, "swish", node.float("alpha") ?? 1.702),
  [`${MICROSOFT}:RotaryEmbedding`]: rotate,
};

function add(lowering: LoweringContext, node: Node): void {
  const [a, b] = node.inputs;
  const [read, added] = lowering.operand(a) ? [a, b] : [b, a];
  const operand = whole(lowering, node, node.inputs.indexOf(read));
  if (isRow(added, operand.width)) {
    const sum = lowering.addRow(operand, added.constant, node);
    if (sum === operand) lowering.alias(node, node.output, operand);
    else lowering.define(node.output, sum);
    return;
  }
  const y = addendOf(lowering, node, added, operand);
  const out = lowering.resultLike(node, operand);
  lowering.push(node, { op: "add", x: operand.value, y, out });
}

function multiply(lowering: LoweringContext, node: Node): void {
  const [a, b] = node.inputs;
  const [read, factor] = lowering.operand(a) ? [a, b] : [b, a];
  const [x, y] = [lowering.operand(read), lowering.operand(factor)];
  if (!x) throw unsupported(node, "neither input depends on the text");
  const row = isRow(factor, x.width) && { row: lowering.floats(`${node.name}.row`, toFloat32(factor.constant)) };
  if (row && lowering.isWhole(x) && lowering.isOnlyQuantized(node.output)) {
    lowering.scaleWhenQuantized(node, x, row.row);
    return;
  }
  const other = y?.width === x.width && haveSameRows(lowering, x, y) ? view(y) : row;
  if (!other) throw unsupported(node, "its inputs must have the same shape, or one of them must be a constant row");
  lowering.push(node, {
    op: "multiply",
    x: view(x),
    y: other,
    out: lowering.resultLike(node, x),
  });
}

/** Lowers an activation function. The step overwrites its input if nothing else reads that input. */
function activation(lowering: LoweringContext, node: Node, kind: ActivationKind, alpha?: number): void {
  const [input, bias] = node.inputs;
  let operand = lowering.operand(input);
  if (!operand) throw unsupported(node, "its input does not depend on the text");
  if (bias) {
    if (!isRow(bias, operand.width)) throw unsupported(node, "its bias is not a constant row");
    operand = lowering.addRow(whole(lowering, node), bias.constant, node);
  }
  const isInPlace = lowering.isWhole(operand) && lowering.claim(operand, node) === undefined;
  const out = isInPlace ? operand.value : lowering.resultLike(node, operand);
  if (isInPlace) lowering.alias(node, node.output, operand);
  lowering.push(node, { op: "activation", kind, ...(alpha !== undefined && { alpha }), x: view(operand), out });
}

function linearF32(lowering: LoweringContext, node: Node): void {
  const weight = node.inputs[1]?.constant;
  const operand = whole(lowering, node);
  if (weight?.shape.length !== 2) throw unsupported(node, "its weight is not a constant matrix");
  const [inputs = 0, outputs = 0] = weight.shape;
  const numbers = toFloat32(weight);
  const rows = Float32Array.from(
    numbers,
    (_, at) => numbers[(at % inputs) * outputs + Math.floor(at / inputs)] as number,
  );
  const out = lowering.resultLike(node, operand, outputs);
  const step = {
    op: "linearF32" as const,
    x: operand.value,
    weight: lowering.floats(`${node.name}.weight`, rows, [outputs, inputs]),
    bias: lowering.floats(`${node.name}.bias`, new Float32Array(outputs)),
    out,
  };
  lowering.push(node, step);
  lowering.addWithoutBias(node.output, step);
}

/** Splits the last axis into equal parts. This needs no step, because the parts are columns of one engine value. */
function split(lowering: LoweringContext, node: Node): void {
  const operand = lowering.operand(node.inputs[0]);
  if (!operand) throw unsupported(node, "its input does not depend on the text");
  const width = operand.width / node.outputs.length;
  node.outputs.forEach((output, part) => {
    lowering.alias(node, output, { ...operand, column: operand.column + part * width, width });
  });
}

/** Slices the last axis. This needs no step, because the slice is a range of columns of one engine value. */
function slice(lowering: LoweringContext, node: Node): void {
  const [x, ...bounds] = node.inputs;
  const operand = lowering.operand(x);
  const [start = -1, end = -1, axis] = bounds.map((value) =>
    value?.constant ? numbersOf(value.constant)[0] : undefined,
  );
  const width = Math.min(end, operand?.width ?? 0) - start;
  const areTwo = bounds[2]?.constant?.shape.join() !== "1";
  if (!operand || areTwo || axis !== -1 || start < 0 || end < 0 || width <= 0) {
    throw unsupported(node, "only a constant range of the last axis can be sliced, with a step of 1");
  }
  lowering.alias(node, node.output, { ...operand, column: operand.column + start, width });
}

/** Removes Where(IsNaN(x), 0, x) after attention. The engine computes no NaN if every token attends to itself. */
function withoutNaN(lowering: LoweringContext, node: Node): void {
  const [condition, other, x] = node.inputs;
  const operand = whole(lowering, node, 2);
  const tested = condition?.producer?.is("IsNaN") ? condition.producer.inputs[0] : undefined;
  const isZero = other?.constant?.data.every((byte) => byte === 0);
  const step = lowering.steps.findLast((each) => each.op === "attention" && each.out === operand.value);
  if (tested !== x || !isZero || step?.op !== "attention" || !attendsToItself(lowering, step.bias)) {
    throw unsupported(node, "only Where(IsNaN(x), 0, x) after attention is supported");
  }
  lowering.alias(node, node.output, operand);
}

function attendsToItself(
  { tensors, maxTokens }: LoweringContext,
  bias: { table: string; heads: number } | undefined,
): boolean {
  const distances = bias && toFloat32(tensors.get(bias.table) as Tensor);
  const own = (head: number) => distances?.[head * (2 * maxTokens - 1) + maxTokens - 1];
  return Array.from({ length: bias?.heads ?? 0 }, (_, head) => own(head)).every(Number.isFinite);
}

/** Gathers the first token of every sequence, for `cls` pooling. */
function firstToken(lowering: LoweringContext, node: Node): void {
  const operand = whole(lowering, node);
  const index = node.inputs[1]?.constant;
  const isFirst = node.int("axis") === 1 && index?.data.every((byte) => byte === 0) && index.shape.length === 0;
  if (!isFirst || lowering.rowsOf(operand) !== "token") {
    throw unsupported(node, "only the first token of every sequence can be gathered");
  }
  lowering.push(node, { op: "cls", x: operand.value, out: lowering.result(node.output, operand.width, "sequence") });
}

/** Averages the tokens of every sequence, for `mean` pooling. */
function meanOfTokens(lowering: LoweringContext, node: Node): void {
  const operand = whole(lowering, node);
  if (lowering.rowsOf(operand) !== "token") throw unsupported(node, "only rows of tokens can be averaged");
  lowering.push(node, { op: "mean", x: operand.value, out: lowering.result(node.output, operand.width, "sequence") });
}

/** Applies the rotary embedding to queries or keys, in place. */
function rotate(lowering: LoweringContext, node: Node): void {
  const [x, , cosines, sines] = node.inputs;
  const operand = lowering.operand(x);
  const [cos, sin] = [cosines, sines].map((value) => value?.constant ?? (value && lowering.table(value)));
  const half = cos?.shape.at(-1) ?? 0;
  const positions = cos?.shape[0] ?? 0;
  if (!operand || !cos || !sin) throw unsupported(node, "its cosines and sines depend on the text");
  if (positions < lowering.maxTokens) {
    throw unsupported(
      node,
      `its tables have ${positions} positions, but texts have up to ${lowering.maxTokens} tokens`,
    );
  }
  const otherReader = lowering.claim(operand, node);
  if (otherReader) throw unsupported(node, `queries and keys are rotated in place, but ${otherReader}`);
  const table = (name: string, values: Tensor) =>
    lowering.floats(name, toFloat32(values).slice(0, lowering.maxTokens * half), [lowering.maxTokens, half]);
  lowering.push(node, {
    op: "rotate",
    x: view(operand),
    width: operand.width,
    size: 2 * half,
    cosines: table(`${cosines?.name}.cosines`, cos),
    sines: table(`${sines?.name}.sines`, sin),
  });
  lowering.alias(node, node.output, operand);
}
