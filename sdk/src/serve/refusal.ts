import { BertEdgeError } from "../artifact/error.ts";
import type { Budget, BudgetSetter, Figures } from "./contract/decision.ts";

/** Default pause before a retry, in ms. */
const RETRY_MS = 1_000;

/** Maximum delay of a retry by slots, in ms. Clients that ignore their slots use up those of others, so the delay needs a limit. */
const LONGEST_SLOT_MS = 2_000;

interface Explanation {
  readonly message: string;
  readonly hint: string;
  /** Pause before a retry, in ms; undefined if the same request would be refused again. */
  readonly retryMs?: number;
}

const explanations = {
  overloaded: {
    message: "More requests wait than can be answered in time.",
    hint: "Send the request again after the time in the header retry-after-ms, or with a larger latency budget.",
    retryMs: RETRY_MS,
  },
  budget_exceeded: {
    message: "The latency budget was over before the request could be computed.",
    hint: "Send x-latency-budget-ms with a larger number, or with `none`.",
  },
  request_too_costly: {
    message: "The request needs more CPU time than the platform allows for one request.",
    hint: "Send fewer texts a request (batchSize of the client), or shorter ones. If the platform allows more CPU time, raise cpuLimitMs, in a project in functions/edge-settings.ts. A region would answer, unless the request pins the edge.",
  },
  too_many_page_reads: {
    message: "The request's texts have too many rare words, whose vectors the edge would have to read from the store.",
    hint: "Send fewer texts a request (batchSize of the client). If the platform allows more reads, raise `maxPageReads` of the option limits. A region would answer, unless the request pins the edge.",
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
} satisfies Readonly<Record<string, Explanation>>;

export type RefusalCode = keyof typeof explanations;

const ONE_TEXT_TOO_COSTLY =
  "Shorten the text, or split it. If the platform allows more CPU time, raise cpuLimitMs, in a project in functions/edge-settings.ts. A region would answer, unless the request pins the edge.";

/** Hints for refusals that a budget can have caused, by who has set the budget. For a caller's own budget, the hint of the code remains. */
const otherBudgets: Readonly<Record<BudgetSetter, (budgetMs: number) => string | undefined>> = {
  caller: () => undefined,
  default: (budgetMs) =>
    `The request gives no budget, so the default of ${budgetMs} ms applied. Send x-latency-budget-ms with a larger number, or with \`none\`.`,
  maximum: (budgetMs) =>
    `The operator allows budgets of up to ${budgetMs} ms. Send fewer or shorter texts, or try again later.`,
};

/** The error of a request that no tier answers, with the figures behind this decision. */
export class Refused extends BertEdgeError {
  declare readonly code: RefusalCode;
  /** The figures behind the decision. Empty if the request was refused without a prediction. */
  readonly basis: Readonly<Figures>;

  /**
   * @param given `message` and `hint` default to those of the code
   * @param cpu CPU time in ms that the request needs (`cpuMs`) and that the platform allows (`cpuLimitMs`), tokens of the longest text
   *   that fits, and number of texts of the request
   */
  constructor(
    given: { refusal: RefusalCode; retryAfterMs?: number | undefined; message?: string; hint?: string | undefined },
    basis: Readonly<Figures> = {},
    cpu = { cpuMs: 0, cpuLimitMs: 0, tokens: 0, texts: 0 },
  ) {
    const { refusal, retryAfterMs } = given;
    const { message, hint, retryMs }: Explanation = explanations[refusal];
    const room = cpu.tokens > 0 ? `one text of up to ${cpu.tokens} tokens` : "no text";
    const figures = `It needs about ${Math.ceil(cpu.cpuMs)} ms, and ${cpu.cpuLimitMs} ms are allowed, enough for ${room}.`;
    const isTooCostly = refusal === "request_too_costly";
    super(refusal, given.message ?? (isTooCostly ? `${message} ${figures}` : message), {
      hint: given.hint ?? (isTooCostly && cpu.texts === 1 ? ONE_TEXT_TOO_COSTLY : hint),
      retryAfterMs: retryAfterMs ?? retryMs,
    });
    this.basis = basis;
  }

  /** Returns this error for a request with a budget. If the caller has not set the budget, the hint says who has. */
  of({ budgetMs, setBy }: Budget): Refused {
    const { code, retryAfterMs, basis } = this;
    const isForTime = code === "budget_exceeded" || code === "overloaded";
    const hint = budgetMs !== undefined && isForTime ? otherBudgets[setBy](budgetMs) : undefined;
    return hint === undefined ? this : new Refused({ refusal: code, retryAfterMs, hint }, basis);
  }
}

/**
 * Makes a function that gives every refused request its own slot for a retry. Otherwise, all requests that were refused in an overload
 * would return at the same time, and most would be refused again. Each caller has slots of its own, so refusals of others do not delay its
 * retries. The function takes the name of the caller, the time in ms after which the request may be answered, and the time in ms that an
 * answer needs. It returns the milliseconds until the retry.
 */
export function retrySlots(now: () => number): (caller: string, ms: number, lengthMs: number) => number {
  /** Time of each caller's last slot. The callers that were refused longest ago come first. */
  const lastAt = new Map<string, number>();
  return (caller, ms, lengthMs) => {
    const earliest = now() + ms;
    const next = (lastAt.get(caller) ?? Number.NEGATIVE_INFINITY) + lengthMs;
    const at = Math.min(Math.max(earliest, next), earliest + LONGEST_SLOT_MS);
    lastAt.delete(caller);
    lastAt.set(caller, at);
    for (const [name, before] of lastAt) {
      if (before >= now()) break;
      lastAt.delete(name);
    }
    return at - now();
  };
}
