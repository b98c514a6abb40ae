import type { Automaton } from "./automaton.ts";

/** Lists the tokens of an automaton: the id of each, and the codes of its characters. `codes` is valid until the next token. */
export function* automatonTokens({ edgeStart, labels, targets, accepts, ids, skips }: Automaton): Generator<{
  readonly id: number;
  readonly codes: readonly number[];
}> {
  const codes: number[] = [];
  function* from(state: number, rank: number): ReturnType<typeof automatonTokens> {
    if (accepts[state] === 1) yield { id: ids[rank] as number, codes };
    for (let edge = edgeStart[state] as number; edge < (edgeStart[state + 1] as number); edge++) {
      codes.push(labels[edge] as number);
      yield* from(targets[edge] as number, rank + (skips[edge] as number));
      codes.pop();
    }
  }
  yield* from(0, 0);
}
