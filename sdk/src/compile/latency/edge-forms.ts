import { BATCH_TOKENS } from "../../runtime/engine/wasm/run/layout.ts";
import type { EncoderConfig } from "../checkpoint/encoder-config.ts";
import type { CatalogueModel } from "../checkpoint/hub/catalogue.ts";
import { outlineOfPages } from "../lower/cut-into-pages.ts";
import { type EncoderShape, outlineEncoder, type WeightForm } from "../lower/outline-encoder.ts";
import { expanded, type Residence, residenceOf } from "../lower/residence.ts";
import { outlineFile } from "../lower/write-model-file.ts";
import { type EdgeFigures, edgeFigures, estimatedColdStartMs, estimatedMs, TYPICAL_ROWS } from "./edge-figures.ts";
import { MAX_WEIGHT_BYTES } from "./platforms/fit.ts";

/** The forms of a model at the edge, by the options of `prepare`, the most accurate first. */
const forms = {
  "": { tableBits: 8, weightBits: 8 },
  "--table int4": { tableBits: 4, weightBits: 8 },
  "--table int4 --weights int4": { tableBits: 4, weightBits: 4 },
} as const satisfies Record<string, WeightForm>;

/** Options of `prepare`. */
export type FormOptions = keyof typeof forms;

/** What a form of a model takes at the edge: estimated, before the model is prepared. */
export interface EstimatedForm extends EdgeFigures {
  readonly source: "estimated";
  /** Whether the weights fit: whole, or with their token embedding table in pages. */
  readonly kept: Residence["kind"];
  /** Whether an isolate can hold the model, with a batch of texts. */
  readonly fits: boolean;
  /** CPU time for texts of 16 and of 128 tokens on one core of a Zen 5. */
  readonly ms: { readonly 16: number; readonly 128: number };
  /** First answer of a cold isolate, from a store of 20 ms and 50 MB/s. */
  readonly coldStartMs: number;
}

/** A form, with the options that make it. */
export interface NamedForm extends EstimatedForm {
  readonly options: FormOptions;
}

/** Number of different tokens of the calibration texts, roughly. The model file has a list of them if its table is in pages. */
const FREQUENT = 2_000;

/**
 * Bytes of a packed tokenizer for each token: 10 with BERT's vocabulary of 30,522 tokens, and 16 to 33 with vocabularies above 100,000, of
 * which XLM-R's takes 20 (docs/limits.md).
 */
const tokenizerBytes = (vocabulary: number): number => vocabulary * (vocabulary < 100_000 ? 10 : 20);

/**
 * Estimates what a form of an encoder takes at the edge, from its sizes alone: outlines the program that `prepare` would write, and reads
 * its header as the engine does.
 *
 * @param maxMemory maximum bytes of weights in memory
 */
export async function estimatedForm(
  shape: EncoderShape,
  form: WeightForm,
  maxMemory: number = MAX_WEIGHT_BYTES,
): Promise<EstimatedForm> {
  const outline = outlineEncoder(shape, form);
  const residence = residenceOf(outline, maxMemory, () => FREQUENT);
  const kept = expanded(outline, residence.kind === "whole" ? residence.expands : "each call");
  const placed = residence.kind === "pages" ? outlineOfPages(kept, { ...residence, frequent: FREQUENT }) : kept;
  const figures = await edgeFigures(outlineFile(placed), tokenizerBytes(shape.vocabulary));
  const ms = { 16: estimatedMs(placed.program, 16), 128: estimatedMs(placed.program, 128) };
  return {
    ...{ source: "estimated", ...figures, ms, coldStartMs: estimatedColdStartMs(figures, ms[16]) },
    kept: residence.kind,
    fits: residence.kind !== "none" && figures.longestText >= Math.min(shape.maxTokens, BATCH_TOKENS),
  };
}

/** Estimates all forms of an encoder, the most accurate first. */
export async function estimatedForms(shape: EncoderShape, maxMemory?: number): Promise<NamedForm[]> {
  const found = Object.entries(forms) as [FormOptions, WeightForm][];
  return Promise.all(
    found.map(async ([options, form]) => ({ options, ...(await estimatedForm(shape, form, maxMemory)) })),
  );
}

/** Estimates the form that a user chose, and all forms. Bits that were not chosen are 8. */
export async function estimatedChoice(
  shape: EncoderShape,
  { tableBits = 8, weightBits = 8 }: { readonly [Bits in keyof WeightForm]?: 8 | 4 | undefined },
  maxMemory: number | undefined,
): Promise<{ readonly form: EstimatedForm; readonly forms: readonly NamedForm[] }> {
  return {
    form: await estimatedForm(shape, { tableBits, weightBits }, maxMemory),
    forms: await estimatedForms(shape, maxMemory),
  };
}

/**
 * Returns the most accurate form that fits and whose typical texts need no pages. A table of 8 bits in pages does not count: in 4 bits more
 * rows fit, and little is lost. If all that fit need pages for typical texts, returns the one with the fewest pages. Returns undefined if
 * none fits.
 */
export function bestForm(found: readonly NamedForm[]): NamedForm | undefined {
  const fitting = found.filter(({ fits }) => fits);
  const isTypical = ({ options, pages }: NamedForm) =>
    !pages || (forms[options].tableBits === 4 && pages.resident >= TYPICAL_ROWS * pages.vocabulary);
  const fewest = fitting.toSorted((a, b) => (a.pages?.bytes ?? 0) - (b.pages?.bytes ?? 0));
  return fitting.find(isTypical) ?? fewest[0];
}

/** Width of the heads of nearly all encoders. It decides only the size of small tables and buffers. */
const HEAD = 64;
/** Uses whose models read pairs of texts. */
const PAIRS: readonly CatalogueModel["use"][] = ["rerank", "questions", "zero-shot"];

/** Returns the sizes of a model of the catalogue. */
export const shapeOfModel = ({ shape, maxTokens, use }: CatalogueModel): EncoderShape => ({
  ...shape,
  ...{ maxTokens, heads: Math.max(1, Math.round(shape.hidden / HEAD)) },
  gated: shape.gated ?? false,
  pairs: PAIRS.includes(use),
  positions: shape.positions ?? "table",
});

/** Returns the sizes of an encoder whose config.json was read. */
export const shapeOfConfig = (
  config: EncoderConfig,
  { maxTokens, pairs }: Pick<EncoderShape, "maxTokens" | "pairs">,
): EncoderShape => ({
  ...{ layers: config.layers, groups: config.layerGroups, heads: config.heads, maxTokens, pairs },
  ...{ hidden: config.hiddenSize, embedding: config.embeddingSize, feedForward: config.intermediateSize },
  ...{ vocabulary: config.vocabularySize, gated: config.isGated, positions: positionsOf(config) },
});

function positionsOf({
  disentangledAttention,
  rotaryTheta,
  hasLinearBiases,
}: EncoderConfig): EncoderShape["positions"] {
  if (disentangledAttention) return { buckets: 2 * disentangledAttention.span };
  if (rotaryTheta) return "rotary";
  return hasLinearBiases ? "distances" : "table";
}
