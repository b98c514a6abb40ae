import { PROGRAM_VERSION, type Program, type Step } from "../../../sdk/src/runtime/engine/wasm/program.ts";
import { randomNumbers } from "../seeded.ts";
import { draft } from "./draft.ts";
import { draws } from "./steps.ts";

const MAX_TOKENS = 256;
export const VOCABULARY = 50;

/** A program of random steps in an order that makes sense, and which values each of them reads or writes. */
export function randomProgram(
  seed: number,
  length: number,
): { program: Program; touched: readonly (readonly number[])[] } {
  const drawn = draft(randomNumbers(seed));
  draws.lookup(drawn);
  const kinds = Object.keys(draws) as Step["op"][];
  while (drawn.steps.length < length) draws[drawn.oneOf(kinds)](drawn);
  const { values, steps, touched } = drawn;
  const output = touched.at(-1)?.at(-1) as number;
  return {
    program: { version: PROGRAM_VERSION, values, steps, output, maxTokens: MAX_TOKENS, vocabulary: VOCABULARY },
    touched,
  };
}
