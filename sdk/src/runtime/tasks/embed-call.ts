import { BertEdgeError } from "../../artifact/error.ts";
import { sentenceEncoder } from "../../artifact/manifest.ts";
import { type PromptedParameters, promptOf, withPrompt } from "./prompt.ts";
import type { TaskCall } from "./task-call.ts";
import { shortened } from "./vector-formats.ts";

export interface EmbedParameters extends PromptedParameters {
  /**
   * Size of the vectors: up to that of the model, which is the default. Vectors are cut, and normalized again. Only models that
   * were trained with Matryoshka representation learning keep their quality.
   */
  readonly dimensions?: number | undefined;
}

/** Calls a sentence encoder. The result is one vector [dimensions] per text. */
export const embedCall = (
  texts: readonly string[],
  { truncate = false, dimensions, prompt }: EmbedParameters = {},
): TaskCall<readonly Float32Array<ArrayBuffer>[]> => ({
  texts,
  on(manifest) {
    const encoder = sentenceEncoder(manifest);
    const { name, dimensions: own } = encoder;
    const size = dimensions ?? own;
    if (size > own) throw dimensionsUnsupported(name, own, size);
    return {
      inputs: withPrompt(promptOf(encoder, prompt), texts),
      truncate,
      decode: (vectors) => (size === own ? vectors : vectors.map((vector) => shortened(vector, size))),
    };
  },
});

const dimensionsUnsupported = (name: string, own: number, dimensions: number): BertEdgeError =>
  new BertEdgeError(
    "dimensions_unsupported",
    `The model ${name} returns vectors of up to ${own} dimensions, not ${dimensions}.`,
    { hint: `Leave \`dimensions\` out, or set it to at most ${own}.` },
  );
