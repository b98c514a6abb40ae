import type { Block } from "../run/block.ts";
import type { Kernels } from "../run/kernels.ts";
import type { OperandReader, TokenTable } from "./operand-reader.ts";

/** When weights of 4 bits are expanded: once, while the model file arrives, or in each call that reads them. */
export const expandTimes = ["once", "each call"] as const;
export type ExpandTime = (typeof expandTimes)[number];

/** Sizes of a program that its tensors depend on. */
export interface Sizes {
  readonly maxTokens: number;
  readonly vocabulary: number;
  /** When weights of 4 bits are expanded. */
  readonly expands: ExpandTime;
}

/** The fields of a step before they are checked. */
export type Unchecked<Step> = { readonly [Field in Exclude<keyof Step, "op">]?: unknown };

/**
 * Checks the operands of a step, and returns how kernels compute the step. The comments in `assembly/` say what each kernel reads and
 * writes. Kernels check nothing.
 *
 * @throws ProgramFault
 */
export type Operation<Step> = (step: Unchecked<Step>, read: OperandReader, sizes: Sizes) => CheckedOperation;

/** A step whose operands are checked. */
export interface CheckedOperation {
  /** Computes the rows of a block. */
  run(block: Block): void;
  /** Returns the bytes of scratch memory that a sequence of `tokens` tokens needs. Only operations on whole sequences need it. */
  readonly scratchBytes?: (kernels: Kernels, tokens: number) => number;
  /** Bytes of scratch memory that a block of any size needs. */
  readonly blockScratch?: number;
  /** The token embedding table that the step reads. */
  readonly tokenTable?: TokenTable;
}
