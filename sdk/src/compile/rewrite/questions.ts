import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import type { Question } from "./rule.ts";

/**
 * Collects the questions that rules ask about values. Rules are synchronous, but answers are not. Therefore `answer`
 * finds the answers after all rules have run, and the rules then run again. Each question is answered once per value.
 */
export class Questions {
  readonly #answers = new Map<Question<unknown>, Map<Value, unknown>>();
  #pending: (readonly [Question<unknown>, Value])[] = [];

  ask<T>(question: Question<T>, value: Value): T | undefined {
    const known = this.#answers.get(question);
    if (known?.has(value)) return known.get(value) as T;
    if (!this.#pending.some(([asked, of]) => asked === question && of === value)) this.#pending.push([question, value]);
    return undefined;
  }

  /** Answers the questions that were asked since the last call. Returns false if nothing was asked. */
  async answer(graph: Graph): Promise<boolean> {
    const pending = this.#pending;
    this.#pending = [];
    for (const [question, value] of pending) {
      const known = this.#answers.get(question) ?? new Map<Value, unknown>();
      known.set(value, await question.answer(graph, value));
      this.#answers.set(question, known);
    }
    return pending.length > 0;
  }
}
