import type { Context, Handler } from "hono";
import type * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { TaskName } from "../../artifact/manifest.ts";
import { backgroundOf } from "../../runtime/background.ts";
import type { TaskCall } from "../../runtime/tasks/task-call.ts";
import type { Truncation } from "../../runtime/truncation.ts";
import { appliedBudget, type CallDefaults, defaultsFor, readPin } from "../call-defaults.ts";
import { UNLIMITED_MS } from "../contract/decision.ts";
import type { AnswerFields } from "../contract/fields.ts";
import {
  BUDGET_HEADER,
  DECISION_HEADER,
  formatServerTiming,
  MODEL_HEADER,
  type NumberFormat,
  numberFormats,
  PRECISION_HEADER,
  PREDICTED_HEADER,
  PROVIDER_HEADER,
  REASON_HEADER,
  REMAINING_HEADER,
  REPORT_HEADER,
  TIER_HEADER,
} from "../contract/headers.ts";
import { formatDecision } from "../decision-figures.ts";
import { hintsWith, jsonBody } from "../middleware/body.ts";
import { note, noted } from "../middleware/variables.ts";
import { type Deadline, readBudget, smallerBudget, startDeadline } from "../routing/deadline.ts";
import type { AnswerDetails, RequestOptions, Serving, TaskAnswer } from "../service.ts";
import { jsonResponse } from "./in-parts.ts";

/** Describes a route. */
export interface RouteDescription<S extends v.GenericSchema, A extends v.GenericSchema> {
  readonly schema: S;
  readonly summary: string;
  /** Example of a body, which a model with the route's task answers. */
  readonly example: v.InferInput<S>;
  readonly response: A;
  /** Task for which hints recommend this route. Default: hints do not recommend it. */
  readonly task?: TaskName;
  /** Returns the route's own name and value for a field in advice. Default: the field and value of the advice. */
  readonly spelled?: (field: string, value: unknown) => readonly [field: string, value: unknown];
  /** Whether a request must name its model if there are several. The route's clients always send a name. */
  readonly namesModel?: boolean;
  /** Whether only an edge calls the route. Docs and hints do not show such a route. */
  readonly isInternal?: boolean;
}

/** A route of a dialect. */
export interface Route<S extends v.GenericSchema = v.GenericSchema, A extends v.GenericSchema = v.GenericSchema>
  extends RouteDescription<S, A> {
  readonly path: string;
  /** Whether a model runs, so that requests can have a budget and a tier. */
  readonly runsModel: boolean;
  handler<Env extends object>(serving: Serving<Env>): Handler<{ Bindings: Env }>;
}

/** A route in the words of one dialect: what its bodies mean, and how it answers. */
export interface TaskRoute<S extends BodySchema, A extends v.GenericSchema, R> extends RouteDescription<S, A> {
  /** Returns the call that a body asks for. */
  call(body: v.InferOutput<S>): TaskCall<R>;
  /** Returns the JSON of the answer, or the whole response. The headers about the answer are already set. */
  respond(answer: TaskAnswer<R>, body: v.InferOutput<S>, c: Context): v.InferInput<A> | Response;
}

/** Returns a route's path, and the path with a slash at the end: callers often write either. */
export const withAndWithoutSlash = (path: string): string[] => (path === "/" ? [path] : [path, `${path}/`]);

/** Makes the route of a task at a path. */
export const taskAt = <S extends BodySchema, A extends v.GenericSchema, R>(
  path: string,
  task: TaskRoute<S, A, R>,
): Route<S, A> & TaskRoute<S, A, R> => ({
  ...task,
  path,
  runsModel: true,
  handler: (serving) =>
    async function handleTask(c) {
      const { terms, body } = await readCall(c, serving, task);
      const model = c.req.param("model") ?? body.model;
      if (model === undefined && task.namesModel) serving.service(c.env).served.assertOne();
      const query = { ...terms, call: task.call(body), model };
      const answer = await serving.service(c.env).answer(query, backgroundOf(c));
      describeAnswer(c, { ...answer, texts: query.call.texts.length }, terms.deadline);
      const written = task.respond(answer, body, c);
      return written instanceof Response ? written : jsonResponse(c, written);
    },
});

/** Bodies of requests that can name a model, have a budget and say whether texts are cut. */
export type BodySchema = v.GenericSchema<
  unknown,
  {
    readonly model?: string | undefined;
    readonly latency_budget_ms?: number | undefined;
    readonly truncate?: Truncation | undefined;
  }
>;

/** Reads the headers and the body of a request. Refuses a request that cannot be answered in time before it reads the body. */
export async function readCall<Env extends object, S extends BodySchema>(
  c: Context<{ Bindings: Env }>,
  { service, defaults: ofDeployment, limits }: Serving<Env>,
  { schema, example }: Pick<RouteDescription<S, v.GenericSchema>, "schema" | "example">,
): Promise<{ terms: RequestOptions; body: v.InferOutput<S> }> {
  const { arrival, admit } = service(c.env);
  const arrived = arrival(performance.now());
  const headerMs = readBudget({ header: c.req.header(BUDGET_HEADER), grpcTimeout: c.req.header("grpc-timeout") });
  const defaults = defaultsFor(noted(c, "key"), ofDeployment);
  const options = readOptions(c, defaults);
  const termsWith = (ownMs: number | undefined): RequestOptions => {
    const { ms, setBy } = appliedBudget(ownMs, defaults);
    return { ...options, deadline: startDeadline(ms, { arrival: arrived, setBy }) };
  };
  // The body can only shorten the header's budget, so the request can be refused without it.
  if (headerMs !== undefined && headerMs < UNLIMITED_MS) admit(termsWith(headerMs), backgroundOf(c));
  const given: v.InferOutput<S> = await jsonBody(c, schema, { hint: hintsWith(example), maxItems: limits.maxInputs });
  const body = { ...given, truncate: given.truncate ?? defaults.truncate };
  return { body, terms: termsWith(smallerBudget(headerMs, body.latency_budget_ms)) };
}

function readOptions(c: Context, defaults: CallDefaults): Omit<RequestOptions, "deadline"> {
  const tier = c.req.header(TIER_HEADER);
  const flight = noted(c, "flight");
  return {
    pin: tier === undefined ? defaults.tier : readPin(tier.trim().toLowerCase(), `header ${TIER_HEADER}`),
    precision: readPrecision(c.req.header(PRECISION_HEADER)),
    signal: c.req.raw.signal,
    caller: flight?.caller,
    hold: flight?.hold,
    onWork: noted(c, "onWork"),
    report: readReport(c.req.header(REPORT_HEADER)),
    trace: noted(c, "trace"),
  };
}

/** Reads the report of a client. Ignores a report that cannot be read, because the request can be answered without it. */
function readReport(header: string | undefined): RequestOptions["report"] {
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

/** Sets the response headers that describe an answer. */
export function describeAnswer(c: Context, answer: AnswerDetails & { texts: number }, deadline: Deadline): void {
  note(c, "answer", answer);
  c.header(TIER_HEADER, answer.tier);
  c.header(REASON_HEADER, answer.reason);
  c.header(DECISION_HEADER, formatDecision(answer.decision));
  c.header(MODEL_HEADER, `${answer.model}@${answer.version}`);
  c.header(PROVIDER_HEADER, answer.provider);
  if (answer.predictedMs !== undefined) c.header(PREDICTED_HEADER, answer.predictedMs.toFixed(2));
  const remainingMs = deadline.remainingMs();
  if (remainingMs !== undefined) {
    // On deployed Workers the clock stops during computation, which seems to take 0 ms: see `REMAINING_HEADER`.
    const unseenMs = answer.timings["compute"] === 0 ? (answer.predictedMs ?? 0) : 0;
    c.header(REMAINING_HEADER, (remainingMs - unseenMs).toFixed(2));
  }
  c.header("server-timing", formatServerTiming({ ...answer.timings, total: deadline.elapsedMs() }));
}

/** Returns the fields that every answer of bert-edge's own routes has. */
export const answerFields = ({ model, version, tier, tokens }: AnswerDetails): AnswerFields => ({
  model,
  version,
  tier,
  usage: { tokens },
});
