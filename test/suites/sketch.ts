import { type Attribute, float, int, ints } from "../../sdk/src/build/graph/attribute.ts";
import { type Shape, symbol } from "../../sdk/src/build/graph/dim.ts";
import { Graph } from "../../sdk/src/build/graph/graph.ts";
import type { Node, Value } from "../../sdk/src/build/graph/node.ts";
import {
  type DataType,
  elementCount,
  float32Scalar,
  int64s,
  type Tensor,
  tensor,
} from "../../sdk/src/build/graph/tensor.ts";
import { randomNumbers } from "./seeded.ts";

/** A value; or a number, which is a float32 scalar; or numbers, which are an int64 vector. */
export type Operand = Value | number | readonly number[] | undefined;

/** Whole numbers, and lists of them, as they are; `{ float }` for the others, for 1 and 1.0 differ. */
export type Setting = number | readonly number[] | string | { readonly float: number } | { readonly tensor: Tensor };

/** A small graph in few words. Constants are random numbers, the same every time. */
export class Sketch {
  readonly graph = new Graph("sketch");
  readonly #random = randomNumbers(20_261_121);

  constructor(opset = 17) {
    this.graph.opsets.set("", opset);
  }

  /** @param shape names are symbols */
  input(name: string, shape: readonly (number | string)[], dtype: DataType = "float32"): Value {
    const value = this.graph.input(name);
    value.dtype = dtype;
    value.shape = shape.map((dim) => (typeof dim === "string" ? symbol(dim) : dim)) as Shape;
    return value;
  }

  /** A constant of numbers around `centre`, within 0.5 of it. */
  random(shape: readonly number[], centre = 0): Value {
    return this.floats(
      shape,
      Float32Array.from({ length: elementCount(shape) }, () => centre + this.#random() - 0.5),
    );
  }

  floats(shape: readonly number[], values: ArrayLike<number>): Value {
    return this.constant(tensor("float32", shape, Float32Array.from(values)));
  }

  /** A scalar int64. */
  index(value: number): Value {
    return this.constant(tensor("int64", [], BigInt64Array.of(BigInt(value))));
  }

  constant(value: Tensor): Value {
    return this.graph.constant("constant", value);
  }

  node(opType: string, inputs: readonly Operand[], settings: Record<string, Setting> = {}, more: More = {}): Node {
    const attributes = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, toAttribute(value)]));
    return this.graph.add(
      opType,
      inputs.map((operand) => this.#value(operand)),
      { ...more, attributes },
    );
  }

  op(opType: string, inputs: readonly Operand[], settings?: Record<string, Setting>, more?: More): Value {
    return this.node(opType, inputs, settings, more).output;
  }

  output(value: Value, name = "result"): void {
    this.graph.outputs.push({ name, value, declaration: undefined });
  }

  #value(operand: Operand): Value | undefined {
    if (typeof operand === "number") return this.constant(float32Scalar(operand));
    return Array.isArray(operand) ? this.constant(int64s(...operand)) : (operand as Value | undefined);
  }
}

interface More {
  readonly name?: string;
  readonly outputs?: readonly string[];
  readonly captures?: readonly Value[];
  readonly domain?: string;
}

function toAttribute(setting: Setting): Attribute {
  if (typeof setting === "number") return int(setting);
  if (typeof setting === "string") return { kind: "string", value: setting };
  if (Array.isArray(setting)) return ints(...setting);
  if ("float" in setting) return float(setting.float);
  return { kind: "tensor", value: (setting as { tensor: Tensor }).tensor };
}

/** ONNX's numbers of the types that casts name. */
export const CAST = { float32: 1, int32: 6, int64: 7, bool: 9, float16: 10 } as const;
