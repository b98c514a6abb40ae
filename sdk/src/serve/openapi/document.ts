import type * as v from "valibot";
import { NO_BUDGET } from "../contract/budget.ts";
import { CohereErrorBody } from "../contract/cohere.ts";
import type { DialectName } from "../contract/dialects.ts";
import { ErrorBody, errorStatus, type HttpErrorCode, OpenAiErrorBody } from "../contract/errors.ts";
import {
  BUDGET_HEADER,
  DECISION_HEADER,
  MODEL_HEADER,
  PREDICTED_HEADER,
  PROVIDER_HEADER,
  REASON_HEADER,
  TIER_HEADER,
  tiers,
} from "../contract/headers.ts";
import { HuggingFaceErrorBody } from "../contract/hugging-face.ts";
import { TeiErrorBody } from "../contract/tei.ts";
import { errorFormats } from "../middleware/error-formats.ts";
import type { TableRoute } from "../route-table.ts";
import { jsonSchema } from "./json-schema.ts";

const dialects: Readonly<Record<DialectName, { readonly name: string; readonly error: v.GenericSchema }>> = {
  own: { name: "bert-edge", error: ErrorBody },
  openai: { name: "OpenAI", error: OpenAiErrorBody },
  tei: { name: "text-embeddings-inference", error: TeiErrorBody },
  cohere: { name: "Cohere", error: CohereErrorBody },
  "hugging-face": { name: "Hugging Face", error: HuggingFaceErrorBody },
};

const header = (name: string, description: string, schema: object = { type: "string" }) => ({
  name,
  description,
  schema,
});

const requestHeaders = [
  header(BUDGET_HEADER, "Milliseconds in which the caller needs the answer; with `none`, no default applies.", {
    anyOf: [{ type: "number", minimum: 0.001, maximum: 999_999_999 }, { const: NO_BUDGET }],
  }),
  header(TIER_HEADER, "The only tier that may answer.", { enum: [...tiers, "auto"] }),
  header("x-request-id", "Name of the request in logs."),
].map((each) => ({ ...each, in: "header", required: false }));

const responseHeaders = Object.fromEntries(
  [
    header(TIER_HEADER, "The tier that computed the answer.", { enum: tiers }),
    header(REASON_HEADER, "Why this tier was chosen."),
    header(DECISION_HEADER, "The figures behind the decision."),
    header(PREDICTED_HEADER, "Predicted milliseconds of the tier.", { type: "number" }),
    header(MODEL_HEADER, "Name and version of the model."),
    header(PROVIDER_HEADER, "Execution provider that ran the model."),
    header("x-request-id", "Name of the request in logs."),
  ].map(({ name, ...described }) => [name, described]),
);

const json = (schema: object, example?: unknown) => ({
  "application/json": { schema, ...(example !== undefined && { example }) },
});

const reference = (dialect: DialectName) => ({ $ref: `#/components/schemas/${dialect}-error` });

/** Describes the errors of a dialect, by status. */
function errorsOf(dialect: DialectName): Record<string, object> {
  const byStatus = new Map<number, string[]>();
  for (const code of Object.keys(errorStatus) as HttpErrorCode[]) {
    const { status } = errorFormats[dialect]({ code, message: "", hint: undefined });
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    Array.from(byStatus, ([status, codes]) => [
      status,
      { description: codes.join(", "), content: json(reference(dialect)) },
    ]),
  );
}

const operation = ({ dialect, schema, about, runsModel }: TableRoute) => ({
  tags: [dialects[dialect].name],
  summary: about.summary,
  ...(runsModel && { parameters: requestHeaders }),
  requestBody: { required: true, content: json(jsonSchema(schema), about.example) },
  responses: {
    200: {
      description: "The answer.",
      ...(runsModel && { headers: responseHeaders }),
      content: json(jsonSchema(about.response)),
    },
    ...errorsOf(dialect),
  },
});

/** A route without a body. */
const simple = (summary: string, statuses: Readonly<Record<number, string>>, secured = true) => ({
  get: {
    tags: ["State"],
    summary,
    ...(secured ? {} : { security: [] }),
    responses: Object.fromEntries(
      Object.entries(statuses).map(([status, description]) => [
        status,
        { description, content: json({ type: "object" }) },
      ]),
    ),
  },
});

/**
 * Describes the HTTP interface in OpenAPI 3.1: https://spec.openapis.org/oas/v3.1.1
 *
 * @param table routes that take a body
 */
export const openApiDocument = (table: readonly TableRoute[]) => ({
  openapi: "3.1.0",
  info: {
    title: "bert-edge",
    version: "1",
    description:
      "Every route also exists under /models/{name} and /models/{name}@{version}, for clients that cannot name a model in the body.",
  },
  servers: [{ url: "/" }],
  security: [{ key: [] }],
  paths: {
    ...Object.fromEntries(table.map((route) => [route.path, { post: operation(route) }])),
    "/health": simple("Whether the process runs.", { 200: "It runs." }, false),
    "/ready": simple("Whether the model is loaded.", { 200: "It is loaded.", 503: "It is not loaded yet." }, false),
    "/info": simple("What is served, and its limits.", { 200: "The model.", 401: "The key is missing or wrong." }),
    "/v1/models": simple("Names of the models.", { 200: "The models.", 401: "The key is missing or wrong." }),
  },
  components: {
    securitySchemes: { key: { type: "http", scheme: "bearer" } },
    schemas: Object.fromEntries(
      Object.entries(dialects).map(([dialect, { error }]) => [`${dialect}-error`, jsonSchema(error)]),
    ),
  },
});
