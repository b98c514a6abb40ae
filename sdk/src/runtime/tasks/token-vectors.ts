import { BertEdgeError } from "../../artifact/error.ts";
import { type Manifest, taskUnsupported } from "../../artifact/manifest.ts";
import type { TokenIds } from "../engine/engine.ts";
import { inputTooLong } from "../input-too-long.ts";
import { sideOf, type Truncation } from "../truncation.ts";
import { encodeRole, type Protocol, type SearchRole, withoutSkipped } from "./late-interaction.ts";
import { promptOf, withPrompt } from "./prompt.ts";
import type { ModelCall, PromptedParameters, TaskCall } from "./task-call.ts";

/** Vectors of a text's tokens: [tokens, dimensions], row-major. */
export interface TokenVectors {
  readonly vectors: Float32Array<ArrayBuffer>;
  readonly dimensions: number;
}

export interface TokenVectorsParameters extends PromptedParameters {
  /** Role of the texts in a search. Default `document`. Only models with a protocol for both have it. */
  readonly side?: SearchRole | undefined;
}

/** Calls an encoder for late interaction (ColBERT). The result is the vectors of each text. */
export const tokenVectorsCall = (
  texts: readonly string[],
  { truncate = false, prompt, side }: TokenVectorsParameters = {},
): TaskCall<TokenVectors[]> => ({
  texts,
  on(manifest) {
    if (manifest.task !== "token-vectors") throw taskUnsupported(manifest, "token-vectors");
    const { dimensions, protocol } = manifest;
    const inputs = withPrompt(promptOf(manifest, prompt), texts);
    if (protocol) return callOfRole(inputs, manifest, { protocol, role: side ?? "document", truncate, dimensions });
    if (side !== undefined) throw sideUnsupported(manifest, side);
    return { inputs, truncate, decode: (outputs) => outputs.map((vectors) => ({ vectors, dimensions })) };
  },
});

interface RoleOptions {
  readonly protocol: Protocol;
  readonly role: SearchRole;
  readonly truncate: Truncation;
  readonly dimensions: number;
}

function callOfRole(
  inputs: readonly string[],
  { name }: Pick<Manifest, "name">,
  { protocol, role, truncate, dimensions }: RoleOptions,
): ModelCall<TokenVectors[]> {
  const maxTokens = protocol[role].length;
  const encoded: TokenIds[] = [];
  return {
    inputs,
    truncate,
    encode(tokenizer, input, index) {
      const side = sideOf(truncate, tokenizer);
      const { sequence, tokens } = encodeRole(tokenizer, input as string, { protocol, role, side });
      if (tokens > maxTokens && !truncate) throw inputTooLong({ name, maxTokens }, index, tokens);
      encoded[index] = sequence.ids;
      return [sequence];
    },
    decode: (outputs) =>
      outputs.map((all, index) => ({
        vectors:
          role === "query"
            ? all
            : withoutSkipped(all, dimensions, encoded[index] as TokenIds, protocol.document.skipped),
        dimensions,
      })),
  };
}

const sideUnsupported = ({ name }: Pick<Manifest, "name">, side: SearchRole): BertEdgeError =>
  new BertEdgeError(
    "request_invalid",
    `The model ${name} reads queries and documents alike, and has no side ${side}.`,
    {
      hint: "Leave `side` out. Models that PyLate or Stanford's ColBERT saved have sides.",
    },
  );
