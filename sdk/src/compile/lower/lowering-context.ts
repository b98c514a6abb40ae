import { checkStep, type Step } from "../../runtime/engine/wasm/ops/index.ts";
import { OperandReader, ProgramFault } from "../../runtime/engine/wasm/ops/operand-reader.ts";
import type { Sizes } from "../../runtime/engine/wasm/ops/operation.ts";
import type { ProgramValue, View } from "../../runtime/engine/wasm/run/values.ts";
import type { Node, Value } from "../graph/node.ts";
import { EDGE } from "../graph/operators.ts";
import { type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { PositionTables, PositionValues } from "./position-values.ts";
import { tilePadded } from "./tile-weight.ts";
import { unsupported } from "./unsupported.ts";

/** Columns of an engine value (a tensor of the program) that hold a value of the graph. */
export interface Operand extends View {
  readonly width: number;
}

type LinearStep = Extract<Step, { op: "linearInt8" | "linearF32" }>;

export const view = ({ value, column }: Operand): View => ({ value, column });

/** Builds the engine's program. Records for each value of the graph which columns of which engine value hold it. */
export class LoweringContext {
  readonly values: ProgramValue[] = [];
  readonly steps: Step[] = [];
  readonly tensors = new Map<string, Tensor>();
  /** Values that depend only on the number of tokens, for tokens with token type 0. */
  readonly positions: PositionTables;
  /** Values that differ from `positions` for tokens with token type 1. Undefined for programs that take single texts. */
  readonly seconds: PositionTables | undefined;
  readonly maxTokens: number;
  readonly #sizes: Sizes;
  /** Indices of the engine values that steps have written. */
  readonly #written = new Set<number>();
  readonly #results: ReadonlySet<Value>;
  readonly #operands = new Map<Value, Operand>();
  readonly #quantized = new Map<string, number>();
  readonly #factors = new Map<Value, string>();
  /**
   * Linear layers without bias, by the engine value of their result. The result has only one reader. If this reader
   * adds a constant row, the row can become the layer's bias.
   */
  readonly #withoutBias = new Map<number, LinearStep>();
  /** Nodes whose results are in columns of their input. They need no step, or their step overwrites the input. */
  readonly #aliasing = new Set<Node>();

  /** @param results outputs of the graph. They are read after the last step, so no step may overwrite them. */
  constructor(
    { first, second }: Pick<PositionValues, "first" | "second">,
    sizes: Sizes,
    results: ReadonlySet<Value> = new Set(),
  ) {
    this.positions = first;
    this.seconds = second;
    this.maxTokens = sizes.maxTokens;
    this.#sizes = sizes;
    this.#results = results;
  }

  /**
   * Adds a step of a node. Makes the same checks of the step that the engine makes when it loads the program.
   *
   * @throws BertEdgeError `engine_unsupported` with the reason
   */
  push(node: Node, step: Step): void {
    const tensors = { tensor: () => 0, size: (name: string) => this.tensors.get(name)?.data.length, end: () => 0 };
    const reader = new OperandReader(this.values, this.#written, tensors);
    try {
      checkStep({ ...step }, reader, this.#sizes);
    } catch (error) {
      throw error instanceof ProgramFault ? unsupported(node, error.message) : error;
    }
    for (const value of reader.writes) this.#written.add(value);
    this.steps.push(step);
  }

  /** Returns a value that depends only on the number of tokens, and not on token types; undefined for other values. */
  table(value: Value): Tensor | undefined {
    return this.seconds?.tables.has(value) ? undefined : this.positions.tables.get(value);
  }

  operand(value: Value | undefined): Operand | undefined {
    return value && this.#operands.get(value);
  }

  /** Records that `operand` holds a value of the graph. */
  define(value: Value | undefined, operand: Operand): void {
    if (value) this.#operands.set(value, operand);
  }

  /**
   * Records that a node's result is in columns of the node's input. The node needs no step, or its step overwrites
   * these columns.
   */
  alias(node: Node, value: Value | undefined, operand: Operand): void {
    this.#aliasing.add(node);
    this.define(value, operand);
  }

  /** Whether an operand covers all columns of its engine value. */
  isWhole({ value, column, width }: Operand): boolean {
    return column === 0 && this.values[value]?.width === width;
  }

  /**
   * Claims the columns that `node` reads, so that the node can overwrite them with its result.
   *
   * @returns undefined on success; otherwise a clause for an error message that names the other reader of the columns
   */
  claim({ value, column, width }: Operand, node: Node): string | undefined {
    const overlaps = (other: Operand) =>
      other.value === value && other.column < column + width && column < other.column + other.width;
    for (const [known, operand] of this.#operands) {
      if (!overlaps(operand)) continue;
      if (this.#results.has(known)) return "they are also an output of the model";
      const reader = [...known.users].find((user) => user !== node && !this.#aliasing.has(user));
      if (reader) return `they are also read by node "${reader.origin}" (${reader.opType})`;
    }
    this.#withoutBias.delete(value);
    return undefined;
  }

  /**
   * Adds the engine value in which a step stores a value of the graph. Returns the index of the engine value.
   *
   * @param of `"token"` if the engine value has one row per token, `"sequence"` if it has one row per sequence
   */
  result(value: Value | undefined, width: number, of: ProgramValue["of"]): number {
    const index = this.add({ width, of, type: "f32" });
    this.define(value, { value: index, column: 0, width });
    return index;
  }

  /** Adds the engine value of a node's result, with as many rows as `operand`. Default width: the width of `operand`. */
  resultLike({ output }: Pick<Node, "output">, operand: Operand, width = operand.width): number {
    return this.result(output, width, this.rowsOf(operand));
  }

  add(value: ProgramValue): number {
    return this.values.push(value) - 1;
  }

  rowsOf(operand: View): ProgramValue["of"] {
    return (this.values[operand.value] as ProgramValue).of;
  }

  /**
   * Records that a node multiplies its input by a row of factors. The node needs no step: quantize steps apply the
   * factors.
   */
  scaleWhenQuantized(node: Node, operand: Operand, factors: string): void {
    this.alias(node, node.output, operand);
    this.#factors.set(node.output, factors);
  }

  /** Returns the engine value with the quantized form of a value. All readers share one quantize step. */
  quantized(node: Node, value: Value, operand: Operand): number {
    const factors = this.#factors.get(value);
    const key = `${operand.value} ${factors ?? ""}`;
    const known = this.#quantized.get(key);
    if (known !== undefined) return known;
    const out = this.add({ width: operand.width, of: this.rowsOf(operand), type: "i8" });
    this.push(node, { op: "quantize", x: operand.value, ...(factors !== undefined && { factors }), out });
    this.#quantized.set(key, out);
    return out;
  }

  /** Whether all readers of a value of the graph quantize it first. */
  isOnlyQuantized(value: Value): boolean {
    return (
      !this.#results.has(value) &&
      [...value.users].every((user) => user.is("DynamicQuantizeMatMul", EDGE) && user.inputs.lastIndexOf(value) === 0)
    );
  }

  floats(name: string, values: Float32Array, shape: readonly number[] = [values.length]): string {
    return this.tensor(name, tensor("float32", shape, values));
  }

  tensor(name: string, value: Tensor): string {
    this.tensors.set(name, value);
    return name;
  }

  /** Records a linear layer without bias. `value` is the layer's result. */
  addWithoutBias(value: Value, step: LinearStep): void {
    const operand = this.#operands.get(value);
    const readers = [...value.users].flatMap(({ inputs }) => inputs.filter((input) => input === value));
    if (operand && readers.length === 1 && !this.#results.has(value)) this.#withoutBias.set(operand.value, step);
  }

  /** Makes a row the bias of the linear layer that computes `operand`. Returns false if that is not possible. */
  #foldBias(operand: Operand, bias: Float32Array): boolean {
    const step = this.#withoutBias.get(operand.value);
    if (!step || bias.length !== operand.width) return false;
    this.#withoutBias.delete(operand.value);
    this.tensors.set(step.bias as string, tensor("float32", [tilePadded(bias).length], tilePadded(bias)));
    return true;
  }

  /**
   * Adds one row to all rows of `operand`. Returns the operand of the sum. If the row becomes the bias of the linear
   * layer that computes `operand`, this is `operand` itself.
   */
  addRow(operand: Operand, row: Tensor, node: Node): Operand {
    const values = toFloat32(row);
    if (this.#foldBias(operand, values)) return operand;
    const out = this.add({ width: operand.width, of: this.rowsOf(operand), type: "f32" });
    const y = { row: this.floats(`${node.name}.row.${out}`, values) };
    this.push(node, { op: "add", x: operand.value, y, out });
    return { value: out, column: 0, width: operand.width };
  }
}

/** Adds a node's steps to the program. */
export type LowerNode = (lowering: LoweringContext, node: Node) => void;
