import { BertEdgeError } from "../artifact/error.ts";
import type { Figures } from "./contract/figures.ts";

export type RefusalCode =
  | "budget_exceeded"
  | "overloaded"
  | "request_too_costly"
  | "tier_missing"
  | "tier_unavailable"
  | "precision_unavailable";

/** Pause before a retry when nothing better is known, in ms. */
const RETRY_MS = 1_000;

interface Explanation {
  readonly message: string;
  readonly hint: string;
  /** Undefined if the same request would be refused again. */
  readonly retryMs?: number;
}

const explanations: Readonly<Record<RefusalCode, Explanation>> = {
  overloaded: {
    message: "More requests wait than can be answered in time.",
    hint: "Send the request again after the time in the header retry-after-ms, or with a larger latency budget.",
    retryMs: RETRY_MS,
  },
  budget_exceeded: {
    message: "The latency budget was over before the request could be computed.",
    hint: "Give a larger budget, or none.",
  },
  request_too_costly: {
    message: "The request needs more CPU time than the platform allows for one request.",
    hint: "Send fewer or shorter texts. If the platform allows more CPU time, raise cpuLimitMs. A region would answer, if the request may go there.",
  },
  tier_missing: {
    message: "This deployment does not have the tier that the request pins.",
    hint: "Send x-bert-edge-tier: auto, or leave the header out.",
  },
  tier_unavailable: {
    message: "The tier that the request pins cannot answer now.",
    hint: "Send x-bert-edge-tier: auto, or try again later.",
    retryMs: RETRY_MS,
  },
  precision_unavailable: {
    message: "No tier of this deployment computes with the precision asked for.",
    hint: "Leave x-bert-edge-precision out, or ask for int8.",
  },
};

/** The error of a request that nobody answers, with what this was decided by. */
export class Refused extends BertEdgeError {
  declare readonly code: RefusalCode;
  /** The figures behind the decision. Empty if the request was refused without a prediction. */
  readonly basis: Readonly<Figures>;

  /** @param cpu the CPU time that the request needs, and that the platform allows, in ms */
  constructor(
    { refusal, retryAfterMs }: { refusal: RefusalCode; retryAfterMs?: number | undefined },
    basis: Readonly<Figures> = {},
    cpu = { cpuMs: 0, cpuLimitMs: 0 },
  ) {
    const { message, hint, retryMs } = explanations[refusal];
    const figures = `It needs about ${Math.ceil(cpu.cpuMs)} ms, and ${cpu.cpuLimitMs} ms are allowed.`;
    super(refusal, refusal === "request_too_costly" ? `${message} ${figures}` : message, {
      hint,
      retryAfterMs: retryAfterMs ?? retryMs,
    });
    this.basis = basis;
  }
}
