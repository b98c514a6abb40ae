import type { Node } from "../graph/node.ts";
import type { Rule } from "./rule.ts";

/** Why something that looks like a known sub-layer was not fused. */
export interface UnfusedReason {
  readonly pattern: string;
  /** A node of the original file, as viewers show it. */
  readonly node: string;
  readonly why: string;
}

interface Miss extends UnfusedReason {
  readonly root: Node;
  readonly depth: number;
}

/** What rewriting did, and what it came close to doing. */
export class Trace {
  /** How often each rule applied. */
  readonly counts = new Map<string, number>();
  readonly #misses = new Map<string, Miss>();
  readonly #notes: UnfusedReason[] = [];

  applied({ name }: Rule): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** Of all attempts of a rule at a node the one that got farthest is kept. */
  nearMiss(rule: Rule, root: Node, node: Node, why: string, depth: number): void {
    const key = `${rule.name}@${root.name}`;
    const known = this.#misses.get(key);
    if (!known || depth >= known.depth)
      this.#misses.set(key, { pattern: rule.name, node: node.origin, why, root, depth });
  }

  didNotConverge(rounds: number): void {
    this.#notes.push({ pattern: "rewriting", node: "", why: `rules still applied after ${rounds} rounds` });
  }

  /** Of the near misses of some rules at some nodes the one that came closest. */
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
