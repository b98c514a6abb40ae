import type { Manifest } from "../../artifact/manifest.ts";
import type { TokenSequence } from "../engine/engine.ts";
import type { TextInput } from "../text-input.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Truncation } from "../truncation.ts";
import type { SearchRole } from "./late-interaction.ts";

/** The model's output for a sequence: see `Model.run`. */
export type ModelOutput = Float32Array<ArrayBuffer>;

/**
 * One call of a task, before it is known which model answers. Latency budget and tier are not part of it: they belong to the
 * request.
 */
export interface TaskCall<R, Part = unknown> {
  /** All texts of the call, in order. */
  readonly texts: readonly string[];
  /** Number of inputs that count towards the limit of inputs per request. Default: the number of texts. */
  readonly size?: number | undefined;
  /** Names a text in errors. Default: `Input` with its index. */
  readonly nameOf?: ((index: number) => string) | undefined;
  /**
   * Fits the call to a model.
   *
   * @throws BertEdgeError `task_unsupported` if the model has another task, and other codes for options that the model does not
   *   support
   */
  on(manifest: Manifest): ModelCall<R, Part>;
}

/** Stands for the text of an input that is given as token ids. */
export const ENCODED = "…";

/** A call that fits a model. `Part` is the type of the result that is read from the outputs of one input. */
export interface ModelCall<R, Part = unknown> {
  /** The texts and pairs that the model reads. */
  readonly inputs: readonly TextInput[];
  /** Whether inputs that are too long are cut. Otherwise they are refused. */
  readonly truncate: Truncation;
  /**
   * Returns the function that encodes the inputs. Default: each input is one sequence, and the sequence's output is the input's
   * `Part`.
   */
  readonly encoder?: ((tokenizer: Tokenizer) => Encode<Part>) | undefined;
  /** @param parts the `Part` of each input, in order */
  decode(parts: readonly Part[]): R;
}

/**
 * Encodes an input. The inputs are encoded once each, and in order.
 *
 * @param index position of the input, for error messages
 * @param most maximum number of sequences. A call that makes several sequences of an input may check this before it makes them
 * @throws BertEdgeError `input_too_long`, `too_many_inputs`
 */
export type Encode<Part = unknown> = (input: TextInput, index: number, most?: number) => EncodedInput<Part>;

/** An input as the model reads it. */
export interface EncodedInput<Part = unknown> {
  /** One or more sequences. */
  readonly sequences: readonly TokenSequence[];
  /** Reads the outputs of these sequences. Default: there is one sequence, and its output is the `Part`. */
  readonly read?: ((outputs: readonly ModelOutput[]) => Part) | undefined;
  /** Text of an input that was given as token ids or cut, for regions that take only texts. Default: the input itself. */
  readonly text?: string | undefined;
}

/** A call whose inputs are encoded. */
export interface EncodedCall<R> extends Pick<ModelCall<R>, "inputs" | "truncate"> {
  /** The sequences of all inputs, in order. */
  readonly sequences: readonly TokenSequence[];
  /** @param outputs the model's output for each sequence, in order */
  decode(outputs: readonly ModelOutput[]): R;
}

/** Options of the tasks that can cut their inputs. */
export interface CuttingOptions {
  /**
   * Whether to cut inputs that are too long: `right` at their end, `left` at their beginning, `true` where the model's tokenizer cuts.
   * With `false`, they are refused. Default: the deployment's setting, or `false`.
   */
  readonly truncate?: Truncation | undefined;
}

/** Options of all encoders. */
export interface EncodingOptions extends CuttingOptions {
  /** Name of the model's prompt that is put before each text, such as `query`. Default: its default prompt, which few models have. */
  readonly promptName?: string | undefined;
}

/** Options of sentence encoders. */
export interface VectorOptions extends EncodingOptions {
  /**
   * Number of dimensions of the vectors, at most that of the model, which is the default. Vectors are cut, and normalized again. Only
   * models that were trained with Matryoshka representation learning keep their quality.
   */
  readonly dimensions?: number | undefined;
  /**
   * Whether texts that are too long are embedded in chunks. Their vector is the mean of the chunks' vectors, weighted by tokens.
   * Default: they are refused, or cut.
   */
  readonly poolChunks?: boolean | undefined;
  /** Whether vectors must have the length 1. Default: as the model says. */
  readonly normalize?: boolean | undefined;
}

/** Options of a sentence encoder, including those that only the HTTP interfaces of other services have. */
export interface EmbedParameters extends VectorOptions {
  /** Maximum number of tokens that are read of a text. Without effect if it is not below the model's own maximum. */
  readonly maxTokens?: number | undefined;
  /** Chooses the prompt of a search's queries or documents, instead of the one that `promptName` names. */
  readonly search?: SearchRole | undefined;
}
