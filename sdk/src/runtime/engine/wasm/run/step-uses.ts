import {
  type Activation,
  type Addend,
  GREATEST_HEAD,
  type Program,
  type Step,
  TILE_OUTPUTS,
  type View,
} from "./program.ts";

/** So many columns of a value from `column` on, or all that it has. */
export interface Columns {
  readonly value: number;
  readonly column?: number;
  readonly width: number;
}

/** What a step's kernels take for granted. */
export interface StepUses {
  readonly reads: readonly Columns[];
  readonly writes: readonly Columns[];
  /** The least bytes of every tensor. */
  readonly tensors?: readonly Bytes[];
  /** Numbers that must be whole and positive; kernels take most sizes by four. */
  readonly counts?: readonly number[];
  /** Numbers that may be any. */
  readonly factors?: readonly number[];
  /** Where it is for tokens alone. */
  readonly isOfTokens?: boolean;
}

type Bytes = readonly [tensor: string, bytes: number];

const activations: Readonly<Record<Activation, true>> = {
  gelu: true,
  fastGelu: true,
  relu: true,
  tanh: true,
  sigmoid: true,
  sigmoidUnit: true,
};

const floats = (tensor: string, count: number): Bytes => [tensor, 4 * count];
const columns = ({ value, column }: View, width: number): Columns => ({ value, column, width });
const rows = (value: number, width: number): Columns => ({ value, width });

/** @returns undefined for a step that this version does not know */
export function usesOf(step: Step, { values, maxTokens, vocabulary }: Program): StepUses | undefined {
  const widthOf = (value: number) => values[value]?.width ?? 0;
  const addend = (y: Addend | undefined, width: number) => {
    if (!y) return {};
    if ("value" in y) return { read: [rows(y.value, width)] };
    if ("row" in y) return { tensor: [floats(y.row, width)] };
    const places = maxTokens + (y.padding === undefined ? 0 : 1);
    return { tensor: [floats(y.positions, places * width)], isOfTokens: true };
  };
  const width = step.op === "rotate" ? step.width : widthOf(step.out);
  const writes = step.op === "rotate" ? [] : [rows(step.out, width)];
  switch (step.op) {
    case "lookup": {
      if (step.bits !== 8 && step.bits !== 4) return undefined;
      const [bytes, steps] = step.bits === 8 ? [width, 1] : [width / 2, width / step.block];
      const tensors: Bytes[] = [[step.table, vocabulary * bytes], floats(step.steps, vocabulary * steps)];
      return { reads: [], writes, tensors, counts: [width / 4, step.block / 4, width / step.block], isOfTokens: true };
    }
    case "quantize":
      return {
        reads: [rows(step.x, width)],
        writes,
        tensors: step.factors === undefined ? [] : [floats(step.factors, width)],
      };
    case "linear": {
      const [inputs, outputs] = [widthOf(step.x), TILE_OUTPUTS * Math.ceil(width / TILE_OUTPUTS)];
      const each = [step.scale, step.zero, step.sum, step.bias].map((tensor) => floats(tensor, outputs));
      return {
        reads: [rows(step.x, inputs)],
        writes,
        tensors: [[step.weight, outputs * inputs], ...each],
        counts: [inputs / 4],
      };
    }
    case "layerNorm": {
      const { read = [], tensor = [], isOfTokens = false } = addend(step.skip, width);
      const beta = step.beta === undefined ? [] : [floats(step.beta, width)];
      const total = step.total === undefined ? [] : [rows(step.total, width)];
      return {
        reads: [rows(step.x, width), ...read],
        writes: [...writes, ...total],
        tensors: [floats(step.gamma, width), ...beta, ...tensor],
        // A sum that is kept is one of two.
        counts: [width / 4, step.total !== undefined && !step.skip ? 0 : 1],
        factors: [step.epsilon],
        isOfTokens,
      };
    }
    case "add": {
      const { read = [], tensor = [], isOfTokens = false } = addend(step.y, width);
      return { reads: [rows(step.x, width), ...read], writes, tensors: tensor, counts: [width / 4], isOfTokens };
    }
    case "gate": {
      const reads = [columns(step.x, width)];
      if ("row" in step.y) return { reads, writes, tensors: [floats(step.y.row, width)], counts: [width / 4] };
      return { reads: [...reads, columns(step.y, width)], writes, counts: [width / 4] };
    }
    case "activation":
      if (!(step.kind in activations)) return undefined;
      return { reads: [columns(step.x, width)], writes, counts: [width / 4], factors: [step.alpha ?? 0] };
    case "rotate": {
      const half = step.size / 2;
      const turned = [columns(step.x, step.size * Math.ceil(width / step.size))];
      const tensors = [step.cosines, step.sines].map((tensor) => floats(tensor, maxTokens * half));
      return { reads: turned, writes: turned, tensors, counts: [half / 4], isOfTokens: true };
    }
    case "attention": {
      const size = step.heads * step.size;
      const distances = step.bias && floats(step.bias.table, step.bias.heads * (2 * maxTokens - 1));
      // One stride for all three.
      const read = [step.query, step.key, step.value];
      const strides = read.map(({ value }) => rows(value, widthOf(step.query.value)));
      return {
        reads: [...read.map((view) => columns(view, size)), ...strides],
        writes: [rows(step.out, size)],
        tensors: distances ? [distances] : [],
        // The greatest product is looked for before products are scaled.
        counts: [
          step.size / 4,
          step.heads,
          step.bias?.heads ?? 1,
          1 + GREATEST_HEAD - step.size,
          step.scale > 0 ? 1 : 0,
        ],
        factors: [step.scale],
        isOfTokens: true,
      };
    }
    case "cls":
      return { reads: [rows(step.x, width)], writes };
    case "dense": {
      const inputs = widthOf(step.x);
      const tensors = [floats(step.weight, inputs * width), floats(step.bias, width)];
      return { reads: [rows(step.x, inputs)], writes, tensors, counts: [inputs / 4] };
    }
    default:
      return undefined;
  }
}
