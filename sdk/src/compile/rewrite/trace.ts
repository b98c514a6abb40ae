import type { Node } from "../graph/node.ts";
import type { Rule } from "./rule.ts";

/** The reason why a known sub-layer was not fused, and the node that causes it. */
export interface UnfusedReason {
  readonly pattern: string;
  /** Name of a node in the original file. */
  readonly node: string;
  readonly why: string;
}

interface Miss extends UnfusedReason {
  readonly root: Node;
  readonly depth: number;
}

/** Records which rules applied, and why others did not. */
export class Trace {
  /** Number of times that each rule applied, by the rule's name. */
  readonly counts = new Map<string, number>();
  readonly #misses = new Map<string, Miss>();
  readonly #notes: UnfusedReason[] = [];

  applied({ name }: Rule): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /**
   * Records that a rule failed at `root` because of `node`. For each rule and root, keeps the attempt that came
   * closest.
   */
  nearMiss(rule: Rule, root: Node, node: Node, why: string, depth: number): void {
    const key = `${rule.name}@${root.name}`;
    const known = this.#misses.get(key);
    if (!known || depth >= known.depth)
      this.#misses.set(key, { pattern: rule.name, node: node.origin, why, root, depth });
  }

  didNotConverge(rounds: number): void {
    this.#notes.push({ pattern: "rewriting", node: "", why: `rules still changed the graph after ${rounds} rounds` });
  }

  /** Compares the attempts in which these rules failed at these nodes. Returns the attempt that came closest. */
  reasonFor(rules: readonly string[], nodes: readonly Node[]): UnfusedReason | undefined {
    const misses = [...this.#misses.values()].filter(
      (miss) => rules.includes(miss.pattern) && nodes.includes(miss.root),
    );
    const [closest] = misses.sort((a, b) => b.depth - a.depth);
    return closest && { pattern: closest.pattern, node: closest.node, why: closest.why };
  }

  get notes(): readonly UnfusedReason[] {
    return this.#notes;
  }
}
