import { BertEdgeError } from "../../artifact/error.ts";
import { sentenceEncoder } from "../../artifact/manifest.ts";
import { type PromptedParameters, promptOf, searchPrompts, withPrompt } from "./prompt.ts";
import type { TaskCall } from "./task-call.ts";
import { shortened } from "./vector-formats.ts";

export interface EmbedParameters extends PromptedParameters {
  /**
   * Size of the vectors: up to that of the model, which is the default. Vectors are cut, and normalized again. Only models that
   * were trained with Matryoshka representation learning keep their quality.
   */
  readonly dimensions?: number | undefined;
  /** Whether vectors must have the length 1. Default: as the model says. */
  readonly normalize?: boolean | undefined;
  /** What the texts are in a search: chooses the prompt of queries or of documents, instead of the one that `prompt` names. */
  readonly search?: "query" | "document" | undefined;
}

/** Calls a sentence encoder. The result is one vector [dimensions] per text. */
export const embedCall = (
  texts: readonly string[],
  { truncate = false, dimensions, prompt, normalize, search }: EmbedParameters = {},
): TaskCall<Float32Array<ArrayBuffer>[]> => ({
  texts,
  on(manifest) {
    const encoder = sentenceEncoder(manifest);
    const { name, dimensions: own } = encoder;
    const size = dimensions ?? own;
    if (size > own) throw dimensionsUnsupported(name, own, size);
    if (normalize === false && encoder.normalize) throw alwaysNormalized(name);
    const isSame = size === own && (normalize ?? encoder.normalize) === encoder.normalize;
    return {
      inputs: withPrompt(search ? searchPrompts(encoder)[search] : promptOf(encoder, prompt), texts),
      truncate,
      // `shortened` normalizes.
      decode: (vectors) => (isSame ? [...vectors] : vectors.map((vector) => shortened(vector, size))),
    };
  },
});

const dimensionsUnsupported = (name: string, own: number, dimensions: number): BertEdgeError =>
  new BertEdgeError(
    "dimensions_unsupported",
    `The model ${name} returns vectors of up to ${own} dimensions, not ${dimensions}.`,
    { hint: `Leave \`dimensions\` out, or set it to at most ${own}.` },
  );

const alwaysNormalized = (name: string): BertEdgeError =>
  new BertEdgeError("request_invalid", `The model ${name} computes only vectors of the length 1.`, {
    hint: "Leave `normalize` out, or set it to true.",
  });
