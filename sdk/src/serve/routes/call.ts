import type { Context } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import type { CallDefaults } from "../call-defaults.ts";
import {
  BUDGET_HEADER,
  PRECISION_HEADER,
  type Precision,
  precisions,
  TIER_HEADER,
  type Tier,
} from "../contract/headers.ts";
import { traceOf } from "../middleware/request-id.ts";
import { readBudget, startDeadline } from "../routing/deadline.ts";
import type { Call } from "../service.ts";

const TIERS: readonly (Tier | "auto")[] = ["edge", "region", "auto"];

/**
 * Reads what a request wants, apart from its texts.
 *
 * @param startedAt time on the clock of `performance.now` at which the request arrived
 * @param bodyMs the field `latency_budget_ms` of the body
 * @param defaults used for what the request does not say
 * @throws BertEdgeError `budget_invalid`, `tier_invalid`, `precision_unavailable`
 */
export function readCall(
  c: Context,
  { startedAt, bodyMs, defaults }: { startedAt: number; bodyMs: number | undefined; defaults: CallDefaults },
): Call {
  const budgetMs = readBudget({
    header: c.req.header(BUDGET_HEADER),
    grpcTimeout: c.req.header("grpc-timeout"),
    bodyMs,
  });
  return {
    deadline: startDeadline(budgetMs ?? defaults.latencyBudgetMs, { startedAt }),
    pin: readTier(c.req.header(TIER_HEADER)) ?? defaults.tier,
    precision: readPrecision(c.req.header(PRECISION_HEADER)),
    signal: c.req.raw.signal,
    trace: traceOf(c),
  };
}

function readTier(header: string | undefined): Tier | undefined {
  if (header === undefined) return undefined;
  const tier = TIERS.find((known) => known === header.trim().toLowerCase());
  if (tier !== undefined) return tier === "auto" ? undefined : tier;
  throw new BertEdgeError("tier_invalid", `The header ${TIER_HEADER} is ${JSON.stringify(header)}.`, {
    hint: `Send one of ${TIERS.join(", ")}, or leave the header out.`,
  });
}

function readPrecision(header: string | undefined): Precision | undefined {
  if (header === undefined) return undefined;
  const precision = precisions.find((known) => known === header.trim().toLowerCase());
  if (precision !== undefined) return precision;
  throw new BertEdgeError("precision_unavailable", `The header ${PRECISION_HEADER} is ${JSON.stringify(header)}.`, {
    hint: `Send one of ${precisions.join(", ")}, or leave the header out.`,
  });
}
