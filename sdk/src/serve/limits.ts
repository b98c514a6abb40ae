import { BertEdgeError } from "../artifact/error.ts";
import type { EmbedManifest } from "../artifact/manifest.ts";
import type { EmbedQuery } from "./service.ts";

export interface Limits {
  /** Maximum number of texts in a request. Default 2,048, the same as OpenAI. */
  maxInputs: number;
  /** Maximum bytes of a request body. Default 4,000,000: 2,048 texts of almost 2,000 characters. */
  maxBodyBytes: number;
  /** Maximum predicted wait of a request without a latency budget, in ms. A longer queue is refused. Default 30,000. */
  maxWaitMs: number;
  /** Maximum characters of all texts that wait or are computed, to limit memory. Default 16,000,000. */
  maxWaitingCharacters: number;
}
export const defaultLimits: Limits = {
  maxInputs: 2_048,
  maxBodyBytes: 4_000_000,
  maxWaitMs: 30_000,
  maxWaitingCharacters: 16_000_000,
};

/**
 * Checks a request as far as this is possible without the model.
 *
 * @param served the name of the model that this deployment serves
 * @throws BertEdgeError `model_unknown`, `too_many_inputs`, `input_empty`
 */
export function checkQuery({ texts, model }: EmbedQuery, served: string, { maxInputs }: Limits): void {
  if (model !== undefined && model !== served) {
    throw new BertEdgeError(
      "model_unknown",
      `This deployment does not serve the model ${JSON.stringify(model.slice(0, 80))}.`,
      {
        hint: `Set \`model\` to ${JSON.stringify(served)}, or leave it out.`,
      },
    );
  }
  if (texts.length > maxInputs) {
    throw new BertEdgeError(
      "too_many_inputs",
      `The request has ${texts.length} inputs, but at most ${maxInputs} are allowed.`,
      { hint: "Send the inputs in several requests." },
    );
  }
  if (texts.length === 0) {
    throw new BertEdgeError("input_empty", "The request has no inputs.", { hint: "Send at least one text." });
  }
  const empty = texts.findIndex((text) => text.trim() === "");
  if (empty >= 0) {
    throw new BertEdgeError("input_empty", `Input ${empty} is empty.`, {
      hint: "Every input needs at least one character that is not white space.",
      index: empty,
    });
  }
}

/**
 * Checks the vector size of a request against the model's manifest.
 *
 * @throws BertEdgeError `dimensions_unsupported`
 */
export function checkDimensions(dimensions: number | undefined, { name, dimensions: own }: EmbedManifest): void {
  if (dimensions === undefined || dimensions === own) return;
  throw new BertEdgeError(
    "dimensions_unsupported",
    `The model ${name} returns vectors of ${own} dimensions, not ${dimensions}.`,
    { hint: `Leave \`dimensions\` out, or set it to ${own}.` },
  );
}
