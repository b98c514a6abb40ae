import type { ProgramValue, Step, View } from "../../runtime/engine/wasm/run/program.ts";
import { EDGE } from "../graph/edge-operators.ts";
import type { Node, Value } from "../graph/node.ts";
import { type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { PositionValues } from "./position-values.ts";
import { tilePadded } from "./tile-weight.ts";
import { notInFours, unsupported } from "./unsupported.ts";

/** Where a value of the graph is while the engine runs. */
export interface Operand extends View {
  readonly width: number;
}

type Linear = Extract<Step, { op: "linearInt8" | "linearF32" }>;

export const view = ({ value, column }: Operand): View => ({ value, column });

/** A program as far as it is written. */
export class Lowering {
  readonly values: ProgramValue[] = [];
  readonly steps: Step[] = [];
  readonly tensors = new Map<string, Tensor>();
  readonly tables: PositionValues["tables"];
  readonly paddings: PositionValues["paddings"];
  readonly maxTokens: number;
  readonly #results: ReadonlySet<Value>;
  readonly #operands = new Map<Value, Operand>();
  readonly #quantized = new Map<string, number>();
  readonly #factors = new Map<Value, string>();
  /** Products without a bias whose result has one reader: it may have one for them. */
  readonly #unbiased = new Map<number, Linear>();
  /** Nodes whose results are columns of what they read. */
  readonly #renaming = new Set<Node>();

  /** @param results of the graph, which are read when all steps are done */
  constructor(
    { tables, paddings }: Pick<PositionValues, "tables" | "paddings">,
    maxTokens: number,
    results: ReadonlySet<Value> = new Set(),
  ) {
    this.tables = tables;
    this.paddings = paddings;
    this.maxTokens = maxTokens;
    this.#results = results;
  }

  operand(value: Value | undefined): Operand | undefined {
    return value && this.#operands.get(value);
  }

  /** Lets a value of the graph be these columns. */
  define(value: Value | undefined, operand: Operand): void {
    if (value) this.#operands.set(value, operand);
  }

  /** Lets a node's result be these columns of what it reads. */
  rename(node: Node, value: Value | undefined, operand: Operand): void {
    this.#renaming.add(node);
    this.define(value, operand);
  }

  /** Whether an operand is all columns of its value. */
  isWhole({ value, column, width }: Operand): boolean {
    return column === 0 && this.values[value]?.width === width;
  }

  /**
   * Claims the columns that `node` reads, so that it can write its result over them.
   *
   * @returns undefined when they are claimed; otherwise who else reads them, as the end of a sentence
   */
  claim({ value, column, width }: Operand, node: Node): string | undefined {
    const overlaps = (other: Operand) =>
      other.value === value && other.column < column + width && column < other.column + other.width;
    for (const [known, operand] of this.#operands) {
      if (!overlaps(operand)) continue;
      if (this.#results.has(known)) return "they are also an output of the model";
      const reader = [...known.users].find((user) => user !== node && !this.#renaming.has(user));
      if (reader) return `they are also read by node "${reader.origin}" (${reader.opType})`;
    }
    this.#unbiased.delete(value);
    return undefined;
  }

  /** A new value for a result; `of` says whether it has a row a token or a sequence. */
  result(value: Value | undefined, width: number, of: ProgramValue["of"]): number {
    const index = this.add({ width, of, type: "f32" });
    this.define(value, { value: index, column: 0, width });
    return index;
  }

  add(value: ProgramValue): number {
    return this.values.push(value) - 1;
  }

  rowsOf(operand: View): ProgramValue["of"] {
    return (this.values[operand.value] as ProgramValue).of;
  }

  /** Lets a node's result be what it reads times a row of factors, for readers that quantize it. */
  multiply(node: Node, operand: Operand, factors: string): void {
    this.rename(node, node.output, operand);
    this.#factors.set(node.output, factors);
  }

  /** A value of the graph as bytes, quantized once for all that read it. */
  quantized(value: Value, operand: Operand): number {
    const factors = this.#factors.get(value);
    const key = `${operand.value} ${factors ?? ""}`;
    const known = this.#quantized.get(key);
    if (known !== undefined) return known;
    const out = this.add({ width: operand.width, of: this.rowsOf(operand), type: "i8" });
    this.steps.push({ op: "quantize", x: operand.value, ...(factors !== undefined && { factors }), out });
    this.#quantized.set(key, out);
    return out;
  }

  /** Whether every reader of a value of the graph quantizes it first. */
  isQuantized(value: Value): boolean {
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

  /** Notes that a product of `value` has no bias. */
  unbiased(value: Value, step: Linear): void {
    const operand = this.#operands.get(value);
    const readers = [...value.users].flatMap(({ inputs }) => inputs.filter((input) => input === value));
    if (operand && readers.length === 1 && !this.#results.has(value)) this.#unbiased.set(operand.value, step);
  }

  /** Gives the product that made `operand` a bias, where it has none and nothing else reads it. */
  #takeBias(operand: Operand, bias: Float32Array): boolean {
    const step = this.#unbiased.get(operand.value);
    if (!step || bias.length !== operand.width) return false;
    this.#unbiased.delete(operand.value);
    this.tensors.set(step.bias as string, tensor("float32", [tilePadded(bias).length], tilePadded(bias)));
    return true;
  }

  /** `operand` plus the same row everywhere: the operand itself, where its product has taken the row for a bias. */
  plusRow(operand: Operand, row: Tensor, node: Node): Operand {
    const values = toFloat32(row);
    if (this.#takeBias(operand, values)) return operand;
    if (operand.width % 4 !== 0) throw unsupported(node, notInFours("the width of its input", operand.width));
    const out = this.add({ width: operand.width, of: this.rowsOf(operand), type: "f32" });
    const y = { row: this.floats(`${node.name}.row.${out}`, values) };
    this.steps.push({ op: "add", x: operand.value, y, out });
    return { value: out, column: 0, width: operand.width };
  }
}

export type Lower = (lowering: Lowering, node: Node) => void;
