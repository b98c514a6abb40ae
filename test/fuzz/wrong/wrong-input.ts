import type { SeededChoice } from "../choose.ts";

/** The answer that the user of a wrong input gets. */
export interface Refusal {
  /** HTTP status, exit code, or `throws`. */
  readonly status: string;
  /** Undefined if the dialect has no codes. */
  readonly code?: string | undefined;
  readonly message: string;
  /** Undefined if the dialect writes message and hint as one text. */
  readonly hint?: string | undefined;
}

/** An input as a user gives it by mistake. */
export interface WrongInput {
  /** The input in one line. */
  readonly shown: string;
  /** The refusal has one of these words: the field, the option, or the file at fault. */
  readonly names: readonly string[];
  /** Whether the product understands it on purpose. Default false. */
  readonly mayBeTaken?: boolean;
  /** Gives the input. Returns undefined if it is taken. */
  give(): Promise<Refusal | undefined>;
  /** Does what the hint says. Returns undefined if it says nothing that can be done. */
  followed(refusal: Refusal): WrongInput | undefined;
}

/** Makes wrong inputs of one part of the product. */
export interface WrongInputs {
  /** Prepares what the inputs are given to. */
  start(): Promise<(choice: SeededChoice) => WrongInput>;
}
