import { taskUnsupported } from "../../artifact/manifest.ts";
import { type PromptedParameters, promptOf, withPrompt } from "./prompt.ts";
import type { TaskCall } from "./task-call.ts";

/** Vectors of a text's tokens: [tokens, dimensions], row-major. */
export interface TokenVectors {
  readonly vectors: Float32Array<ArrayBuffer>;
  readonly dimensions: number;
}

/** Calls an encoder for late interaction (ColBERT). The result is the vectors of each text. */
export const tokenVectorsCall = (
  texts: readonly string[],
  { truncate = false, prompt }: PromptedParameters = {},
): TaskCall<TokenVectors[]> => ({
  texts,
  on(manifest) {
    if (manifest.task !== "token-vectors") throw taskUnsupported(manifest, "token-vectors");
    const { dimensions } = manifest;
    return {
      inputs: withPrompt(promptOf(manifest, prompt), texts),
      truncate,
      decode: (outputs) => outputs.map((vectors) => ({ vectors, dimensions })),
    };
  },
});
