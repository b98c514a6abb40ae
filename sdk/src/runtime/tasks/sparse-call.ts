import { taskUnsupported } from "../../artifact/manifest.ts";
import { type PromptedParameters, promptOf, withPrompt } from "./prompt.ts";
import { type SparseEntries, sparseEntries } from "./sparse.ts";
import type { TaskCall } from "./task-call.ts";

/** Calls a sparse encoder (SPLADE). The result is the weights of each text. */
export const sparseCall = (
  texts: readonly string[],
  { truncate = false, prompt }: PromptedParameters = {},
): TaskCall<SparseEntries[]> => ({
  texts,
  on(manifest) {
    if (manifest.task !== "sparse") throw taskUnsupported(manifest, "sparse");
    return {
      inputs: withPrompt(promptOf(manifest, prompt), texts),
      truncate,
      decode: (outputs) => outputs.map((weights) => sparseEntries(weights)),
    };
  },
});
