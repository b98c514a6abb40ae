import type { Manifest } from "../../artifact/manifest.ts";
import type { TokenSequence } from "../engine/engine.ts";
import type { TextInput } from "../text-input.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Truncation } from "../truncation.ts";

/**
 * One call of a task, before it is known which model answers. Calls contain no wishes about time and place: those belong to
 * the request.
 */
export interface TaskCall<R> {
  /** All texts of the call, in order. */
  readonly texts: readonly string[];
  /** Number of sequences that the call has at least, which limits count. Default: the number of texts. */
  readonly size?: number | undefined;
  /** Names a text in errors. Default: `Input` with its index. */
  readonly nameOf?: ((index: number) => string) | undefined;
  /**
   * Fits the call to a model.
   *
   * @throws BertEdgeError `task_unsupported` if the model has another task, and other errors of wishes that this model
   *   cannot fulfil
   */
  on(manifest: Manifest): ModelCall<R>;
}

/** Stands for the text of an input that a call encodes itself. */
export const ENCODED = "…";

/** A call that fits a model. */
export interface ModelCall<R> {
  /** The texts and pairs that the model reads. */
  readonly inputs: readonly TextInput[];
  /** Whether inputs that are too long are cut. Otherwise they are refused. */
  readonly truncate: Truncation;
  /**
   * Encodes one input. The inputs are encoded once each, and in order. Default: an input is one sequence, and its output
   * has the same length whatever the input is.
   */
  readonly encode?: Encode | undefined;
  /** @param outputs the model's output for each sequence, in order: see `Model.run` */
  decode(outputs: readonly Float32Array<ArrayBuffer>[]): R;
}

/**
 * Encodes an input to one or more sequences.
 *
 * @param index position of the input, for error messages
 * @param most maximum number of sequences. A call whose inputs become several sequences may refuse more before it makes them
 * @throws BertEdgeError `input_too_long`, `too_many_inputs`
 */
export type Encode = (tokenizer: Tokenizer, input: TextInput, index: number, most?: number) => readonly TokenSequence[];

/** The wishes of a caller of any encoder. */
export interface PromptedParameters {
  /** Whether to cut texts that are too long. Otherwise they are refused. Default false. */
  readonly truncate?: Truncation | undefined;
  /** Name of the prompt that is put before each text. Default: the model's default prompt, which most models do not have. */
  readonly prompt?: string | undefined;
}

/** The wishes of a caller of a sentence encoder. */
export interface EmbedParameters extends PromptedParameters {
  /**
   * Size of the vectors: up to that of the model, which is the default. Vectors are cut, and normalized again. Only models that
   * were trained with Matryoshka representation learning keep their quality.
   */
  readonly dimensions?: number | undefined;
  /**
   * Whether texts that are too long are embedded in chunks. Their vector is the mean of the chunks' vectors, weighted by tokens.
   * Default: they are refused, or cut.
   */
  readonly poolChunks?: boolean | undefined;
  /** Whether vectors must have the length 1. Default: as the model says. */
  readonly normalize?: boolean | undefined;
  /** Chooses the prompt of a search's queries or documents, instead of the one that `prompt` names. */
  readonly search?: "query" | "document" | undefined;
}
