import type { Graph } from "../graph/graph.ts";
import type { Node, NodeOptions, Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";
import { elementCount } from "../graph/tensor.ts";
import { uniformValue } from "../graph/uniform-value.ts";
import type { Pattern } from "./pattern.ts";

/** Why a rule does not apply, and the node at which that shows. */
export class Refusal {
  readonly why: string;
  readonly node: Node | undefined;

  constructor(why: string, node?: Node) {
    this.why = why;
    this.node = node;
  }
}

export const refuse = (why: string, node?: Node): Refusal => new Refusal(why, node);

/** What a rule's rewrite works with: the matched values by name, and a way to add nodes. */
export interface Rewrite {
  readonly graph: Graph;
  /** The node that the match is rooted at. */
  readonly root: Node;
  value(name: string): Value;
  maybe(name: string): Value | undefined;
  /** The number that a matched constant is. */
  number(name: string): number;
  /** Adds a node, with shapes inferred, and returns its first output. */
  add(opType: string, inputs: readonly (Value | undefined)[], options?: NodeOptions): Node;
  constant(name: string, tensor: Tensor): Value;
  /** What a question's probe has found out about a value; undefined until the graph has been probed. */
  ask<T>(question: Question<T>, value: Value): T | undefined;
}

/** Something to find out about a value by computing it, which takes a moment: rules ask, and are tried again. */
export interface Question<T> {
  readonly name: string;
  readonly answer: (graph: Graph, value: Value) => Promise<T>;
}

/** What takes the place of the root's output, or of several values. */
type Replacement = Value | readonly (readonly [before: Value, after: Value])[];

export interface Rule {
  /** The operator it makes, or what it does. */
  readonly name: string;
  /** Operators the pattern can be rooted at. */
  readonly roots: readonly string[];
  readonly domain: string;
  readonly pattern: Pattern | undefined;
  /** Matched values that may be read by others too, because the rewrite replaces or keeps them. */
  readonly shared: readonly string[];
  readonly rewrite: (rewrite: Rewrite) => Replacement | Refusal | undefined;
}

interface RuleOptions {
  readonly roots: readonly string[];
  readonly domain?: string;
  readonly pattern?: Pattern;
  readonly shared?: readonly string[];
  /** @returns a refusal with the reason, undefined when there is nothing to do, or the replacement */
  readonly rewrite: Rule["rewrite"];
}

/** A rule is what to look for, and what to put in its place; only the driver changes the graph. */
export const rule = (name: string, options: RuleOptions): Rule => ({
  name,
  roots: options.roots,
  domain: options.domain ?? "",
  pattern: options.pattern,
  shared: options.shared ?? [],
  rewrite: options.rewrite,
});

/** A constant vector of this length: undefined unless it is one, leading dimensions of 1 aside. */
export function vectorOf(value: Value | undefined, length: unknown): Value | undefined {
  const shape = value?.constant?.shape;
  return shape && elementCount(shape) === length && (shape.length === 0 || shape.at(-1) === length) ? value : undefined;
}

/** The number a constant is; NaN when it is no constant. */
export const uniformNumber = (value: Value | undefined): number => (value && uniformValue(value)) ?? Number.NaN;
