import type { Graph } from "../graph/graph.ts";
import type { Node, NodeOptions, Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";
import { elementCount } from "../graph/tensor.ts";
import { uniformValue } from "../graph/uniform-value.ts";
import type { Pattern } from "./pattern.ts";

/** The reason why a rule does not apply, and the node that causes this. Users see both in reports. */
export class Refusal {
  readonly why: string;
  readonly node: Node | undefined;

  constructor(why: string, node?: Node) {
    this.why = why;
    this.node = node;
  }
}

export const refuse = (why: string, node?: Node): Refusal => new Refusal(why, node);

/** The matched values by name, and functions that rewrites use. */
export interface Rewrite {
  readonly graph: Graph;
  /** The node whose output the pattern matches. */
  readonly root: Node;
  value(name: string): Value;
  maybe(name: string): Value | undefined;
  /** Returns the number that all elements of a matched constant share; NaN if they differ. */
  number(name: string): number;
  /** Adds a node and infers its shapes. */
  add(opType: string, inputs: readonly (Value | undefined)[], options?: NodeOptions): Node;
  constant(name: string, tensor: Tensor): Value;
  /** Returns the answer to a question about a value. Returns undefined if the question has not been answered yet. */
  ask<T>(question: Question<T>, value: Value): T | undefined;
}

/**
 * A question about a value. Answering the question runs a part of the graph, so the rule gets the answer when it is
 * tried again.
 */
export interface Question<T> {
  readonly name: string;
  readonly answer: (graph: Graph, value: Value) => Promise<T>;
}

/**
 * The result of a rule: the value that replaces the output of the root, or several pairs of a value and its
 * replacement.
 */
type Replacement = Value | readonly (readonly [before: Value, after: Value])[];

export interface Rule {
  /** Name of the operator that the rule creates, or of the change it makes. */
  readonly name: string;
  /** Operator types that the root can have. The root is the last node of the pattern. Its output is replaced. */
  readonly roots: readonly string[];
  readonly domain: string;
  readonly pattern: Pattern | undefined;
  /** Names of matched values that nodes outside the match may read too, because the rewrite replaces or keeps them. */
  readonly shared: readonly string[];
  readonly rewrite: (rewrite: Rewrite) => Replacement | Refusal | undefined;
}

interface RuleOptions {
  readonly roots: readonly string[];
  readonly domain?: string;
  readonly pattern?: Pattern;
  readonly shared?: readonly string[];
  /** @returns the replacement, a refusal, or undefined if there is nothing to do */
  readonly rewrite: Rule["rewrite"];
}

/** Defines a rule: a pattern and the function that replaces its match. Only `applyRules` changes the graph. */
export const rule = (name: string, options: RuleOptions): Rule => ({
  name,
  roots: options.roots,
  domain: options.domain ?? "",
  pattern: options.pattern,
  shared: options.shared ?? [],
  rewrite: options.rewrite,
});

/** Returns the value if it is a constant vector of this length. Leading dimensions of 1 are allowed. */
export function vectorOf(value: Value | undefined, length: unknown): Value | undefined {
  const shape = value?.constant?.shape;
  return shape && elementCount(shape) === length && (shape.length === 0 || shape.at(-1) === length) ? value : undefined;
}

/** Returns the number that all elements of a constant share; otherwise NaN. */
export const uniformNumber = (value: Value | undefined): number => (value && uniformValue(value)) ?? Number.NaN;
