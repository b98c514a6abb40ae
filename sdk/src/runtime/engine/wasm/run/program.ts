import type { Step } from "../ops/index.ts";
import type { ExpandTime } from "../ops/operation.ts";
import type { ProgramValue } from "./values.ts";

/**
 * The program of a model file: a list of steps over values. Steps refer to tensors by their names in the file. parseProgram
 * turns a Program into a CheckedProgram, which the engine runs.
 */
export interface Program {
  /** Version of the steps and of the tensors' layouts. An engine only runs programs of its own version. */
  readonly version: number;
  readonly values: readonly ProgramValue[];
  readonly steps: readonly Step[];
  /** Index of the value that is the result. */
  readonly output: number;
  /** Maximum number of tokens in a sequence. A position table has this many rows, or one more if it has `padding`. */
  readonly maxTokens: number;
  /** Vocabulary size. All token ids are smaller than this number. */
  readonly vocabulary: number;
  /** When weights of 4 bits are expanded. Default: once. */
  readonly expands?: ExpandTime;
  /** Whether sequences can be pairs of texts. Missing if the model takes single texts only. */
  readonly pairs?: boolean;
}

/** Increase this number with every change that makes the engine misread model files of the previous version. */
export const PROGRAM_VERSION = 4;
