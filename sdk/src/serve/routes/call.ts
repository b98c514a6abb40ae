import type { Context } from "hono";
import type * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { backgroundOf } from "../background.ts";
import { appliedBudget, type CallDefaults } from "../call-defaults.ts";
import { UNLIMITED_MS } from "../contract/budget.ts";
import {
  BUDGET_HEADER,
  type NumberFormat,
  numberFormats,
  PRECISION_HEADER,
  REPORT_HEADER,
  TIER_HEADER,
} from "../contract/headers.ts";
import type { Deployment } from "../deployment.ts";
import { keyDefaultsOf, keyOf } from "../middleware/api-key.ts";
import { jsonBody } from "../middleware/json-body.ts";
import { onWorkOf } from "../middleware/note-answer.ts";
import { traceOf } from "../middleware/request-id.ts";
import { readBudget, smallerBudget, startDeadline } from "../routing/deadline.ts";
import { readPin } from "../routing/pin.ts";
import type { CallTerms } from "../service.ts";

/** Bodies of requests that can name a model and have a budget. */
export type BodySchema = v.GenericSchema<
  unknown,
  { readonly model?: string | undefined; readonly latency_budget_ms?: number | undefined }
>;

/** Reads the headers and the body of a request. A request that cannot be in time is refused before its body is read. */
export async function readCall<Env extends object, S extends BodySchema>(
  c: Context<{ Bindings: Env }>,
  { service, defaults, limits }: Pick<Deployment<Env>, "service" | "defaults" | "limits">,
  schema: S,
): Promise<{ terms: CallTerms; body: v.InferOutput<S> }> {
  const { arrival, admit } = service(c.env);
  const arrived = arrival(performance.now());
  const headerMs = readBudget({ header: c.req.header(BUDGET_HEADER), grpcTimeout: c.req.header("grpc-timeout") });
  const wishes = readWishes(c, defaults);
  const termsWith = (ownMs: number | undefined): CallTerms => {
    const { ms, setBy } = appliedBudget(ownMs, keyDefaultsOf(c), defaults);
    return { ...wishes, deadline: startDeadline(ms, { arrival: arrived, setBy }) };
  };
  // The body can only make the budget smaller.
  if (headerMs !== undefined && headerMs < UNLIMITED_MS) admit(termsWith(headerMs), backgroundOf(c));
  const body: v.InferOutput<S> = await jsonBody(c, schema, { maxItems: limits.maxInputs });
  return { body, terms: termsWith(smallerBudget(headerMs, body.latency_budget_ms)) };
}

function readWishes(c: Context, defaults: CallDefaults): Omit<CallTerms, "deadline"> {
  const tier = c.req.header(TIER_HEADER);
  return {
    pin:
      tier === undefined
        ? (keyDefaultsOf(c)?.tier ?? defaults.tier)
        : readPin(tier.trim().toLowerCase(), `header ${TIER_HEADER}`),
    precision: readPrecision(c.req.header(PRECISION_HEADER)),
    signal: c.req.raw.signal,
    caller: keyOf(c)?.name,
    onWork: onWorkOf(c),
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
