import { BertEdgeError } from "../../artifact/error.ts";
import { sentenceEncoder } from "../../artifact/manifest.ts";
import type { TaskCall } from "./task-call.ts";

export interface EmbedParameters {
  /** Whether to cut texts that are too long. Otherwise they are refused. Default false. */
  readonly truncate?: boolean | undefined;
  /** Size of the vectors. Default: that of the model. */
  readonly dimensions?: number | undefined;
}

/** Calls a sentence encoder. The result is one vector [dimensions] per text. */
export const embedCall = (
  texts: readonly string[],
  { truncate = false, dimensions }: EmbedParameters = {},
): TaskCall<readonly Float32Array<ArrayBuffer>[]> => ({
  texts,
  on(manifest) {
    const { name, dimensions: own } = sentenceEncoder(manifest);
    if (dimensions !== undefined && dimensions !== own) throw dimensionsUnsupported(name, own, dimensions);
    return { inputs: texts, truncate, decode: (vectors) => vectors };
  },
});

const dimensionsUnsupported = (name: string, own: number, dimensions: number): BertEdgeError =>
  new BertEdgeError(
    "dimensions_unsupported",
    `The model ${name} returns vectors of ${own} dimensions, not ${dimensions}.`,
    { hint: `Leave \`dimensions\` out, or set it to ${own}.` },
  );
