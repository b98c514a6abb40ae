import { BertEdgeError } from "../artifact/error.ts";
import { checkFields } from "./call-defaults.ts";

export interface Limits {
  /** Maximum number of texts in a request. Default 2,048, as at OpenAI. */
  maxInputs: number;
  /** Maximum bytes of a request body. Default 4,000,000: 2,048 texts of almost 2,000 characters. */
  maxBodyBytes: number;
  /** Maximum predicted wait of a request without a latency budget, in ms. If it would wait longer, it is refused. Default 30,000. */
  maxWaitMs: number;
  /**
   * Maximum bytes of memory that all requests in flight hold together: bodies, texts, token ids, outputs, and answers until they are sent.
   * Default at the edge: 96 MiB minus the bytes of the models, but at least 8 and at most 32 MiB. Default in a region: 128 MiB.
   */
  maxBytesInFlight: number | undefined;
  /**
   * Maximum number of reads from the store that a request may cause, if the model's vocabulary is in pages. With more, the region answers.
   * Default 32: Cloudflare's free plan allows 50 fetches in a request, and the first one loads the model.
   */
  maxPageReads: number;
  /** Maximum bytes of a request's outputs. Default 16,777,216: vectors of 2,048 dimensions for 2,048 texts. */
  maxOutputBytes: number;
}

export const defaultLimits: Limits = {
  maxInputs: 2_048,
  maxBodyBytes: 4_000_000,
  maxWaitMs: 30_000,
  maxBytesInFlight: undefined,
  maxPageReads: 32,
  maxOutputBytes: 16 * 1024 * 1024,
};

/**
 * Adds the defaults to limits.
 *
 * @throws BertEdgeError `setting_invalid` if a name or a value is not valid
 */
export function limitsWith(given: Partial<Limits> = {}): Limits {
  checkFields(given, Object.keys(defaultLimits), "limits");
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || (typeof value === "number" && value > 0)) continue;
    throw new BertEdgeError("setting_invalid", `In the option limits, ${name} is ${String(value)}.`, {
      hint: "Give a positive number, or leave it out.",
    });
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaultLimits, ...Object.fromEntries(set) };
}
