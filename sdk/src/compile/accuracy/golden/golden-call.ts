import { type Manifest, taskUnsupported } from "../../../artifact/manifest.ts";
import { idsOf } from "../../../runtime/engine/token-sequence.ts";
import { inputEncoder } from "../../../runtime/input-encoder.ts";
import type { Model } from "../../../runtime/model.ts";
import { type Activation, classifyCall } from "../../../runtime/tasks/classify.ts";
import { embedCall } from "../../../runtime/tasks/embed.ts";
import { mapResult } from "../../../runtime/tasks/map-result.ts";
import { searchPromptName } from "../../../runtime/tasks/prompt.ts";
import { rerankCall } from "../../../runtime/tasks/rerank.ts";
import { type SparseEntries, sparseCall } from "../../../runtime/tasks/sparse.ts";
import type { Encode, TaskCall } from "../../../runtime/tasks/task-call.ts";
import { type TokenVectors, tokenVectorsCall } from "../../../runtime/tasks/token-vectors.ts";
import { textsOf } from "../../../runtime/text-input.ts";
import type { Tokenizer } from "../../../runtime/tokenizer/tokenizer.ts";
import type { Truncation } from "../../../runtime/truncation.ts";
import type { GoldenLine } from "./read-golden.ts";

/** A model's answer to a line, in the form of the file's answers. */
export type GoldenAnswer =
  | { readonly rows: readonly Float32Array<ArrayBuffer>[] }
  /** By label. */
  | { readonly scores: ReadonlyMap<string, number> };

/** Options for asking the model for the answer of a line. */
export interface Asking {
  /** End at which texts that are too long are cut. Default: the model's own. */
  readonly truncate?: Truncation | undefined;
  /** Function that turns logits into scores. Default: the model's own activation. */
  readonly activation?: Activation | undefined;
  /** Whether both texts of a pair have the token type 0. Default false. */
  readonly oneTokenType?: boolean | undefined;
}

/** Makes the task call for the text of a line, as a request with this text would. */
export const goldenCall = (line: GoldenLine, asking: Asking = {}): TaskCall<GoldenAnswer> => ({
  texts: textsOf(line.input),
  size: 1,
  on(manifest) {
    const call = answerCall(line, manifest, asking).on(manifest);
    return asking.oneTokenType ? { ...call, encoder: ofOneTokenType(manifest, call.truncate) } : call;
  },
});

function answerCall(
  line: GoldenLine,
  manifest: Manifest,
  { truncate = true, activation }: Asking,
): TaskCall<GoldenAnswer> {
  const [first = "", second = ""] = textsOf(line.input);
  const promptName = promptNameOf(line, manifest);
  switch (manifest.task) {
    case "embed":
      return mapResult(embedCall([first], { truncate, promptName }), (vectors) => ({ rows: vectors }));
    case "sparse":
      return mapResult(sparseCall([first], { truncate, promptName }), ([entries]) => ({
        rows: [dense(entries as SparseEntries, manifest.vocabulary)],
      }));
    case "token-vectors": {
      const side = manifest.protocol && line.side;
      return mapResult(tokenVectorsCall([first], { truncate, promptName, side }), ([vectors]) => ({
        rows: rowsOf(vectors as TokenVectors),
      }));
    }
    case "classify":
      if (line.expected.kind === "score" && manifest.input === "pair") {
        // Softmax has no meaning for a single score.
        const how = activation === "softmax" ? undefined : activation;
        return mapResult(rerankCall(first, [second], { truncate, activation: how }), ([ranked]) => ({
          scores: new Map([[manifest.labels[0] ?? "", ranked?.score ?? Number.NaN]]),
        }));
      }
      return mapResult(classifyCall([line.input], { truncate, functionToApply: activation }), ([labels = []]) => ({
        scores: new Map(labels.map(({ label, score }) => [label, score])),
      }));
    default:
      throw taskUnsupported(manifest, "embed");
  }
}

const ofOneTokenType =
  (manifest: Manifest, truncate: Truncation) =>
  (tokenizer: Tokenizer): Encode => {
    const encode = inputEncoder(tokenizer, manifest, truncate);
    return (input, index) => ({ sequences: [idsOf(encode(input, index))] });
  };

/** Returns the name of the prompt before the text of a line; undefined if there is none. */
export const promptNameOf = ({ prompt, side }: GoldenLine, manifest: Manifest): string | undefined =>
  prompt ??
  (side && searchPromptName(manifest, side)) ??
  ("defaultPrompt" in manifest ? manifest.defaultPrompt : undefined);

/** Returns the input that a model reads for a line (with its prompt), its number of tokens, and whether it is cut. */
export function readInput(line: GoldenLine, { manifest, tokenizer }: Pick<Model, "manifest" | "tokenizer">) {
  const [input = ""] = goldenCall(line).on(manifest).inputs;
  const maxTokens = lengthOfLine(line, manifest);
  const { tokens } =
    typeof input === "string" ? tokenizer.encode(input, maxTokens) : tokenizer.encodePair(...input, maxTokens);
  return { input, tokens, isCut: tokens > maxTokens };
}

/** Returns the maximum number of tokens of a line. Queries and documents of late interaction each have their own maximum. */
function lengthOfLine({ side = "document" }: GoldenLine, manifest: Manifest): number {
  const protocol = manifest.task === "token-vectors" ? manifest.protocol : undefined;
  return protocol ? protocol[side].length : manifest.maxTokens;
}

function dense({ indices, values }: SparseEntries, vocabulary: number): Float32Array<ArrayBuffer> {
  const weights = new Float32Array(vocabulary);
  indices.forEach((index, i) => {
    weights[index] = values[i] as number;
  });
  return weights;
}

const rowsOf = ({ vectors, dimensions }: TokenVectors): Float32Array<ArrayBuffer>[] =>
  Array.from({ length: vectors.length / dimensions }, (_, i) => vectors.slice(i * dimensions, (i + 1) * dimensions));
