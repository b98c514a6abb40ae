import type { LatencyFit } from "#sdk/artifact/measurements.ts";

/** The times of a model, in milliseconds. */
export interface SimulatedModel {
  readonly title: string;
  /** Time of a text at the edge, on the machine that measured the model. */
  readonly edge: LatencyFit;
  /** Time of a text in the region, as the model's measurements predict it: `regional-cpu`. */
  readonly regionalCpu: LatencyFit;
  /** Time that a text really takes in the region. */
  readonly region: LatencyFit;
  /** Time from the start of an isolate to its first answer, on the machine that measured the model. */
  readonly coldStartMs: number;
}

export type ModelName = "mini" | "base";

/** Sources of the figures: docs/routing.md. */
export const models: Readonly<Record<ModelName, SimulatedModel>> = {
  mini: {
    title: "default model, 3 layers of 384",
    edge: { base: 0.034, perToken: 0.0493, perSquare: 0.0000313 },
    regionalCpu: { base: 0.81, perToken: 0.0352, perSquare: 0.0000224 },
    region: { base: 0.41, perToken: 0, perSquare: 0 },
    coldStartMs: 45,
  },
  base: {
    title: "BERT-base, 12 layers of 768",
    edge: { base: 0.5, perToken: 0.745, perSquare: 0.00025 },
    regionalCpu: { base: 1.6, perToken: 0.532, perSquare: 0.00018 },
    region: { base: 1.15, perToken: 0, perSquare: 0 },
    coldStartMs: 200,
  },
};
