import type { LatencyFit, Measurements } from "../../artifact/measurements.ts";
import type { Model } from "../../runtime/model.ts";
import { charactersOf, type TextInput } from "../../runtime/text-input.ts";
import type { Work } from "../queue/scheduler.ts";
import { CALL_MS, type Estimate, type Speed } from "../queue/speed.ts";

/** Plan for computing a request on this deployment. Times are in milliseconds. */
export interface Plan extends Omit<Work, "caller" | "dueAt"> {
  /** Calls of the engine, in order. A call cannot be interrupted. */
  readonly calls: readonly {
    /** Indices of the call's texts. */
    readonly indices: readonly number[];
    /** Predicted time on the machine that measured the model. */
    readonly measuredMs: number;
  }[];
  /** Predicted time of the whole work on this machine, if no other request waits. */
  readonly compute: Estimate;
}

/** Plans the computation of texts, which are given as token ids or by their lengths in tokens. */
export function planOf(
  { batches, parallel, measurements, target }: Pick<Model, "batches" | "parallel" | "measurements" | "target">,
  texts: readonly { readonly length: number }[],
  speed: Speed,
): Plan {
  const fit = predictedFit({ measurements, target });
  const calls: { indices: number[]; measuredMs: number }[] = [];
  let roomMs = 0;
  for (const batch of batches(texts)) {
    const lengths = batch.map((index) => texts[index]?.length ?? 0);
    const measuredMs = predictLatency(fit, lengths);
    const { ms } = speed.predict(measuredMs, 0);
    if (ms > roomMs) {
      calls.push({ indices: [], measuredMs: 0 });
      roomMs = CALL_MS;
    }
    const call = calls.at(-1) as (typeof calls)[number];
    call.indices.push(...batch);
    call.measuredMs += measuredMs;
    roomMs -= ms;
  }
  const totalMs = calls.reduce((sum, { measuredMs }) => sum + measuredMs, 0);
  const atATime = Math.max(1, Math.min(parallel, calls.length));
  const loadMs = speed.predict(totalMs, calls.length).ms / parallel;
  const compute = speed.predict(totalMs / atATime, calls.length / atATime);
  return { calls, parallel, measuredMs: totalMs, engineMs: speed.predict(totalMs / atATime, 0).ms, compute, loadMs };
}

/** Predicts the milliseconds of the region's computation, on the machine that measured the model. */
export const inRegionMs = (measurements: Measurements, texts: readonly { readonly length: number }[]): number =>
  predictLatency(
    predictedFit({ measurements, target: "regional-cpu" }),
    texts.map(({ length }) => length),
  );

/** Returns the latency formula of a model's target, for the machine that measured the model. */
export const predictedFit = ({ measurements, target }: Pick<Model, "measurements" | "target">): LatencyFit =>
  measurements[target]?.latency ?? UNMEASURED;

/** Returns the number of tokens of the longest text that a model computes within `ms`, on the machine that measured it. */
export const longestWithin = (model: Pick<Model, "manifest" | "measurements" | "target">, ms: number): number =>
  Math.min(model.manifest.maxTokens, tokensWithin(predictedFit(model), ms));

/** Returns the number of texts of `tokens` tokens that a model computes within `ms`, on the machine that measured it. */
export const textsWithin = (model: Pick<Model, "measurements" | "target">, tokens: number, ms: number): number =>
  Math.floor(ms / predictLatency(predictedFit(model), [tokens]));

/** Assumed characters per token before tokenizing. English has about 4; a smaller number would refuse requests that fit. */
const CHARACTERS_PER_TOKEN = 4;

/** Estimates the lengths of inputs in tokens, with special tokens. */
export const estimatedLengths = (inputs: readonly TextInput[], maxTokens: number): { length: number }[] =>
  inputs.map((input) => ({ length: Math.min(maxTokens, 2 + Math.ceil(charactersOf(input) / CHARACTERS_PER_TOKEN)) }));

/** Assumed latency of a target that was not measured: about that of 6 layers of width 384. The machine's speed corrects it. */
const UNMEASURED: LatencyFit = { base: 1, perToken: 0.1, perSquare: 0.0002 };

/**
 * Predicts the milliseconds of one call: `base · sequences + perToken · Σ length + perSquare · Σ length²`.
 * The sequences run one after another, so each of them costs `base`.
 */
export function predictLatency({ base, perToken, perSquare }: LatencyFit, lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + base + perToken * length + perSquare * length ** 2, 0);
}

/** Returns the number of tokens of the longest sequence that a target computes within `ms`; 0 if even one token takes longer. */
export function tokensWithin({ base, perToken, perSquare }: LatencyFit, ms: number): number {
  const leftMs = ms - base;
  if (leftMs <= 0) return 0;
  // The positive root of perSquare · n² + perToken · n = leftMs, in a form that also works if perSquare is 0.
  const root = (2 * leftMs) / (perToken + Math.sqrt(perToken ** 2 + 4 * perSquare * leftMs));
  return Math.floor(root);
}
