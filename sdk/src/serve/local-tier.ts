import { BertEdgeError } from "../artifact/error.ts";
import type { TargetName } from "../artifact/manifest.ts";
import type { TokenIds } from "../runtime/engine/engine.ts";
import type { Model } from "../runtime/model.ts";
import { predictCost } from "./routing/cost-model.ts";
import type { EmbedAnswer, EmbedQuery, EmbedService } from "./service.ts";

export interface Limits {
  /** Inputs a request may have. Default 64. */
  maxInputs: number;
  /** Bytes a request's body may have. Default 2 000 000, as text-embeddings-inference's. */
  maxBodyBytes: number;
}
export const defaultLimits: Limits = { maxInputs: 64, maxBodyBytes: 2_000_000 };

/**
 * Checks what can be checked before any model is loaded.
 *
 * @throws BertEdgeError `input_empty`, `too_many_inputs`, `model_unknown`
 */
export function checkQuery({ texts, model }: EmbedQuery, served: string, { maxInputs }: Limits): void {
  if (model !== undefined && model !== served) {
    throw new BertEdgeError("model_unknown", `There is no model ${JSON.stringify(model.slice(0, 80))} here.`, {
      hint: `This deployment serves ${served}.`,
    });
  }
  if (texts.length > maxInputs) {
    throw new BertEdgeError(
      "too_many_inputs",
      `The request has ${texts.length} inputs, at most ${maxInputs} are taken.`,
      {
        hint: "Send several requests.",
      },
    );
  }
  const empty = texts.findIndex((text) => text.trim() === "");
  if (texts.length === 0 || empty >= 0) {
    throw new BertEdgeError(
      "input_empty",
      texts.length === 0 ? "The request has no inputs." : `Input ${empty} is empty.`,
      {
        hint: "Every input needs at least one character that is not white space.",
      },
    );
  }
}

/** What `/ready` says of the model that is loaded here, if there is one. */
export const describeReady = (model: Model | undefined): ReturnType<EmbedService["ready"]> =>
  model && { model: model.manifest.name, version: model.version, provider: model.provider };

/** Runs the tokenized texts on the model that is loaded here. */
export async function runHere(
  { deadline }: EmbedQuery,
  model: Model,
  sequences: readonly TokenIds[],
): Promise<Omit<EmbedAnswer, "tier" | "reason" | "predictedMs">> {
  const { vectors, tokens, computeMs } = await model.embedTokens(sequences, deadline.elapsedMs);
  return {
    vectors,
    tokens,
    model: model.manifest.name,
    version: model.version,
    provider: model.provider,
    timings: { compute: computeMs },
  };
}

/** What `target` should take for these sequences, in ms; undefined while nothing is known. */
export function predictMs(model: Model, target: TargetName, sequences: readonly TokenIds[]): number | undefined {
  const cost = model.manifest.targets[target]?.cost;
  return (
    cost &&
    predictCost(
      cost,
      sequences.map(({ length }) => length),
    )
  );
}
