import type { Graph } from "../graph/graph.ts";
import type { Node, NodeOptions, Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";
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

/** Result of a rewrite that needs the answer to a question first. The rule is tried again once the answer is known. */
export const UNANSWERED: Refusal = refuse("a value that the rewrite depends on is not computed yet");

/** The nodes that a rule has found: the root, and the matched values by name. */
export interface Found {
  readonly graph: Graph;
  /** The node whose output the pattern matches. */
  readonly root: Node;
  value(name: string): Value;
  maybe(name: string): Value | undefined;
  /** Returns the tensor of a matched constant. */
  tensor(name: string): Tensor;
  /** Returns the number that all elements of a matched constant share; NaN if they differ. */
  number(name: string): number;
}

/** The nodes that a rule has found, and functions that change the graph. */
export interface Rewrite extends Found {
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
  /** Rewrites the nodes that a rule has found. Returns undefined if the nodes do not match the rule. */
  readonly apply: (rewrite: Rewrite) => Replacement | Refusal | undefined;
}

interface RuleOptions<T> {
  readonly roots: readonly string[];
  readonly domain?: string;
  readonly pattern?: Pattern;
  readonly shared?: readonly string[];
  /**
   * Tests conditions that `pattern` cannot express. Returns the data for `rewrite`. Returns false or undefined if the nodes do not match
   * the rule. Reports do not mention such nodes.
   */
  readonly check?: (found: Found) => T | false | undefined;
  /** Returns the replacement, or the reason why the matching nodes cannot be replaced. */
  readonly rewrite: (rewrite: Rewrite, checked: T) => Replacement | Refusal;
}

/** Defines a rule: pattern, check and rewrite. Only `applyRules` changes the graph. */
export const rule = <T>(
  name: string,
  { roots, domain = "", pattern, shared = [], check, rewrite }: RuleOptions<T>,
): Rule => ({
  name,
  roots,
  domain,
  pattern,
  shared,
  apply(found) {
    const checked = check?.(found);
    if (check && (checked === undefined || checked === false)) return undefined;
    return rewrite(found, checked as T);
  },
});
