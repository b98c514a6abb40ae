import * as v from "valibot";
import type { TargetName } from "./manifest.ts";
import { parseJson } from "./parse-json.ts";

/** File of an artifact folder that holds its measurements. The model's version does not depend on this file. */
export const MEASUREMENTS_FILE = "measurements.json";
/** Maximum bytes of this file, which has a few numbers for each target. */
export const MAX_MEASUREMENTS_BYTES = 1024 * 1024;

const NonNegative = v.pipe(v.number(), v.minValue(0));
const Bytes = v.pipe(v.number(), v.integer(), v.minValue(1));

/** Milliseconds for one sequence of n tokens: `base + perToken · n + perSquare · n²`. */
const LatencyFit = v.pipe(
  v.object({ base: NonNegative, perToken: NonNegative, perSquare: NonNegative }),
  v.check(({ base, perToken, perSquare }) => base + perToken + perSquare > 0, "its values must not all be 0"),
);

/** Peak memory of a target's engine, and the memory limit of the place it runs in, in bytes. */
const MemoryUse = v.object({ peak: Bytes, limit: Bytes, fits: v.boolean() });

const TargetMeasurements = v.object({ latency: v.optional(LatencyFit), memory: v.optional(MemoryUse) });

/**
 * Time and memory of an artifact's targets. Measured values differ from run to run, even on one machine. They are not
 * in the manifest, because the manifest's hash is the model's version.
 */
export const MeasurementsSchema = v.object({
  edge: v.optional(TargetMeasurements),
  "regional-cpu": v.optional(TargetMeasurements),
  "regional-gpu": v.optional(TargetMeasurements),
} satisfies Record<TargetName, unknown>);

export type Measurements = v.InferOutput<typeof MeasurementsSchema>;
export type LatencyFit = v.InferOutput<typeof LatencyFit>;
export type MemoryUse = v.InferOutput<typeof MemoryUse>;

/**
 * Parses and checks measurements.json.
 *
 * @param source where the text comes from, for the error message
 * @throws BertEdgeError `manifest_invalid`
 */
export function parseMeasurements(text: string, source: string): Measurements {
  return parseJson(MeasurementsSchema, text, {
    code: "manifest_invalid",
    what: `file ${source}`,
    hint: "Run `bert-edge bench` to measure the artifact again, or delete the file.",
  });
}
