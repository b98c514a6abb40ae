import { BertEdgeError } from "../../artifact/error.ts";
import { type Manifest, taskUnsupported } from "../../artifact/manifest.ts";
import { inputTooLong } from "../input-too-long.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { sideOf, type Truncation } from "../truncation.ts";
import { encodeRole, type Protocol, type SearchRole, withoutSkipped } from "./late-interaction.ts";
import { promptOf, withPrompt } from "./prompt.ts";
import type { Encode, EncodingOptions, ModelOutput, TaskCall } from "./task-call.ts";

/** Vectors of a text's tokens: [tokens, dimensions], row-major. */
export interface TokenVectors {
  readonly vectors: Float32Array<ArrayBuffer>;
  readonly dimensions: number;
}

export interface TokenVectorsOptions extends EncodingOptions {
  /** Role of the texts in a search. Default `document`. Only models whose manifest has a `protocol` accept it. */
  readonly side?: SearchRole | undefined;
}

/** Calls an encoder for late interaction (ColBERT). The result is the vectors of each text. */
export const tokenVectorsCall = (
  texts: readonly string[],
  { truncate = false, promptName, side }: TokenVectorsOptions = {},
): TaskCall<TokenVectors[], ModelOutput> => ({
  texts,
  on(manifest) {
    if (manifest.task !== "token-vectors") throw taskUnsupported(manifest, "token-vectors");
    const { name, dimensions, protocol } = manifest;
    const inputs = withPrompt(promptOf(manifest, promptName), texts);
    if (!protocol && side !== undefined) throw sideUnsupported(manifest, side);
    return {
      inputs,
      truncate,
      encoder:
        protocol && ((tokenizer) => roleEncoder(tokenizer, { name, dimensions, protocol, role: side, truncate })),
      decode: (outputs) => outputs.map((vectors) => ({ vectors, dimensions })),
    };
  },
});

interface RoleOptions {
  readonly name: string;
  readonly dimensions: number;
  readonly protocol: Protocol;
  readonly role: SearchRole | undefined;
  readonly truncate: Truncation;
}

/** Returns the function that encodes texts of a role. Tokens that the protocol skips in documents are left out of the outputs. */
function roleEncoder(
  tokenizer: Tokenizer,
  { name, dimensions, protocol, role = "document", truncate }: RoleOptions,
): Encode<ModelOutput> {
  const maxTokens = protocol[role].length;
  const side = sideOf(truncate, tokenizer);
  return (input, index) => {
    const { sequence, tokens } = encodeRole(tokenizer, input as string, { protocol, role, side });
    if (tokens > maxTokens && !truncate) throw inputTooLong({ name, maxTokens }, index, tokens);
    const read = ([vectors]: readonly ModelOutput[]) =>
      withoutSkipped(vectors as ModelOutput, dimensions, sequence.ids, protocol.document.skipped);
    return { sequences: [sequence], read: role === "document" ? read : undefined };
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
