import type { Node } from "../graph/node.ts";

/**
 * A pattern to find in a graph, written as the formula that the matched nodes compute.
 *
 * - a number: a constant with that number in all elements, within `CONSTANT_TOLERANCE`
 * - `any(x)`: any value; a name that occurs twice must match the same value
 * - `constant(c)`: any constant
 * - `op(type, inputs)`: a node of this type whose inputs match
 * - `sum(…)`: nodes of the types Add, Sub and Neg, in any order and grouping
 * - `product(…)`: nodes of the types Mul, Div, Reciprocal and Pow, in any order and grouping
 */
export type Pattern = number | Any | Operator | Commutative | Bound | OneOf | Through;

interface Any {
  readonly kind: "any";
  readonly name: string;
  readonly constant: boolean;
}

interface Operator {
  readonly kind: "op";
  readonly opType: string;
  readonly domain: string;
  readonly inputs: readonly Pattern[];
  readonly where: Condition;
}

/** Returns true if a node matches; otherwise false, or the reason why it does not match. */
export type Condition = (node: Node) => boolean | string;

export interface Item {
  readonly pattern: Pattern;
  /** Whether the item is subtracted (in a sum) or is a divisor (in a product). */
  readonly inverted: boolean;
}

interface Commutative {
  readonly kind: "commutative";
  readonly group: Group;
  readonly items: readonly Item[];
}

/** The operators that form a sum or a product. */
export interface Group {
  readonly combine: string;
  readonly undo: string;
  readonly invert: string;
  /** Operator for a product of equal items: Pow(x, 2) is x · x. */
  readonly power?: string;
  /** Number that changes nothing: undo(identity, x) is invert(x). */
  readonly identity: number;
  readonly inverse: (value: number) => number;
}

interface Bound {
  readonly kind: "bound";
  readonly name: string;
  readonly pattern: Pattern;
}

interface OneOf {
  readonly kind: "oneOf";
  readonly patterns: readonly Pattern[];
}

interface Through {
  readonly kind: "through";
  readonly opTypes: readonly string[];
  readonly pattern: Pattern;
}

export const any = (name: string): Pattern => ({ kind: "any", name, constant: false });

export const constant = (name: string): Pattern => ({ kind: "any", name, constant: true });

interface OperatorOptions {
  readonly domain?: string;
  readonly where?: Condition;
}

export const op = (opType: string, inputs: readonly Pattern[], options: OperatorOptions = {}): Pattern => ({
  kind: "op",
  opType,
  domain: options.domain ?? "",
  inputs,
  where: options.where ?? (() => true),
});

const addition: Group = { combine: "Add", undo: "Sub", invert: "Neg", identity: 0, inverse: (value) => -value };
const multiplication: Group = {
  combine: "Mul",
  undo: "Div",
  invert: "Reciprocal",
  power: "Pow",
  identity: 1,
  inverse: (value) => 1 / value,
};

type Operand = Pattern | { readonly inverted: Pattern };
const toItem = (operand: Operand): Item =>
  typeof operand === "object" && "inverted" in operand
    ? { pattern: operand.inverted, inverted: true }
    : { pattern: operand, inverted: false };

/** Matches the sum a + b + …. The operand `minus(c)` is subtracted. */
export const sum = (...operands: readonly Operand[]): Pattern => ({
  kind: "commutative",
  group: addition,
  items: operands.map(toItem),
});

/** Matches the elementwise product a · b · …. The operand `over(c)` is a divisor. */
export const product = (...operands: readonly Operand[]): Pattern => ({
  kind: "commutative",
  group: multiplication,
  items: operands.map(toItem),
});

export const minus = (pattern: Pattern): Operand => ({ inverted: pattern });
export const over = (pattern: Pattern): Operand => ({ inverted: pattern });

/** Names the value that a pattern matches. */
export const bind = (name: string, pattern: Pattern): Pattern => ({ kind: "bound", name, pattern });

export const oneOf = (...patterns: readonly Pattern[]): Pattern => ({ kind: "oneOf", patterns });

/**
 * Matches a value that `pattern` matches. Also matches the result of a chain of operators of the types `opTypes` that
 * begins at such a value. The chain goes through the first input of each operator.
 */
export const through = (opTypes: readonly string[], pattern: Pattern): Pattern => ({
  kind: "through",
  opTypes,
  pattern,
});
