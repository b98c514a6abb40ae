import type { Context } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import type { CallDefaults } from "../call-defaults.ts";
import {
  BUDGET_HEADER,
  type NumberFormat,
  numberFormats,
  PRECISION_HEADER,
  REPORT_HEADER,
  TIER_HEADER,
} from "../contract/headers.ts";
import { keyDefaultsOf } from "../middleware/api-key.ts";
import { traceOf } from "../middleware/request-id.ts";
import { readBudget, startDeadline } from "../routing/deadline.ts";
import { readPin } from "../routing/pin.ts";
import type { CallTerms } from "../service.ts";

/**
 * Reads what a request wants, apart from its texts.
 *
 * @param startedAt time on the clock of `performance.now` at which the request arrived
 * @param bodyMs the field `latency_budget_ms` of the body
 * @param defaults what the deployment uses for what neither the request nor its key says
 * @throws BertEdgeError `budget_invalid`, `tier_invalid`, `precision_unavailable`
 */
export function readCall(
  c: Context,
  { startedAt, bodyMs, defaults }: { startedAt: number; bodyMs: number | undefined; defaults: CallDefaults },
): CallTerms {
  const budgetMs = readBudget({
    header: c.req.header(BUDGET_HEADER),
    grpcTimeout: c.req.header("grpc-timeout"),
    bodyMs,
  });
  const ofKey = keyDefaultsOf(c);
  const tier = c.req.header(TIER_HEADER);
  return {
    deadline: startDeadline(budgetMs ?? ofKey?.latencyBudgetMs ?? defaults.latencyBudgetMs, { startedAt }),
    pin:
      tier === undefined ? (ofKey?.tier ?? defaults.tier) : readPin(tier.trim().toLowerCase(), `header ${TIER_HEADER}`),
    precision: readPrecision(c.req.header(PRECISION_HEADER)),
    signal: c.req.raw.signal,
    report: readReport(c.req.header(REPORT_HEADER)),
    trace: traceOf(c),
  };
}

/** Reads the report of a client. A report that cannot be read is ignored: it does not concern the caller. */
function readReport(header: string | undefined): CallTerms["report"] {
  const [, predicted, measured] = /^(\d{1,7}(?:\.\d+)?) (\d{1,7}(?:\.\d+)?)$/.exec(header ?? "") ?? [];
  return predicted && measured ? { predictedMs: Number(predicted), measuredMs: Number(measured) } : undefined;
}

function readPrecision(header: string | undefined): NumberFormat | undefined {
  if (header === undefined) return undefined;
  const precision = numberFormats.find((known) => known === header.trim().toLowerCase());
  if (precision !== undefined) return precision;
  throw new BertEdgeError("precision_unavailable", `The header ${PRECISION_HEADER} is ${JSON.stringify(header)}.`, {
    hint: `Send one of ${numberFormats.join(", ")}, or leave the header out.`,
  });
}
