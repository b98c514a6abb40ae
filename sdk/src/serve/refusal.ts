import { BertEdgeError } from "../artifact/error.ts";
import type { Decision, RefusalCode } from "./routing/decide.ts";

const explanations: Readonly<Record<RefusalCode, { message: string; hint: string }>> = {
  overloaded: {
    message: "More requests wait than can be answered in time.",
    hint: "Send the request again after the time in the header retry-after-ms, or with a larger latency budget.",
  },
  budget_exceeded: {
    message: "The latency budget was over before the request could be computed.",
    hint: "Give a larger budget, or none.",
  },
  request_too_costly: {
    message: "The request needs more CPU time than the platform allows for one request.",
    hint: "Send the texts in several requests. With a region, the region would answer.",
  },
  tier_unavailable: {
    message: "The tier that the request pins cannot answer now.",
    hint: "Send x-bert-edge-tier: auto, or try again later.",
  },
  precision_unavailable: {
    message: "No tier of this deployment computes with the precision asked for.",
    hint: "Leave x-bert-edge-precision out, or ask for int8.",
  },
};

/** Refusals after which the same request may be answered, and the pause before it in ms when nothing better is known. */
const later: Partial<Record<RefusalCode, true>> = { overloaded: true, tier_unavailable: true };
const RETRY_MS = 1_000;

/** The error of a request that nobody answers, with what this was decided by. */
export class Refused extends BertEdgeError {
  /** What the decision was based on: milliseconds by name. */
  readonly basis: Readonly<Record<string, number>>;

  /** @param cpu the CPU time that the request needs, and that the platform allows, in ms */
  constructor(
    { refusal, retryAfterMs }: Extract<Decision, { refusal: unknown }>,
    basis: Readonly<Record<string, number>>,
    cpu = { cpuMs: 0, cpuLimitMs: 0 },
  ) {
    const { message, hint } = explanations[refusal];
    const figures = `It needs about ${Math.ceil(cpu.cpuMs)} ms, and ${cpu.cpuLimitMs} ms are allowed.`;
    super(refusal, refusal === "request_too_costly" ? `${message} ${figures}` : message, {
      hint,
      retryAfterMs: retryAfterMs ?? (refusal in later ? RETRY_MS : undefined),
    });
    this.basis = basis;
  }
}
