import { type ConversionConfig, toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { NO_BUDGET } from "../contract/decision.ts";
import { errorStatus, type HttpErrorCode } from "../contract/errors.ts";
import {
  BUDGET_HEADER,
  CALLER_HEADER,
  DECISION_HEADER,
  MODEL_HEADER,
  PREDICTED_HEADER,
  PROVIDER_HEADER,
  REASON_HEADER,
  TIER_HEADER,
  tiers,
} from "../contract/headers.ts";
import { shownRoutes } from "../dialects/index.ts";
import type { Dialect } from "../routes/dialect.ts";
import type { Route } from "../routes/task-route.ts";

const described = (description: string, schema: object = { type: "string" }) => ({ description, schema });

const REQUEST_ID = described("Id of the request in logs.");

const requestHeaders = Object.entries({
  [BUDGET_HEADER]: described("Milliseconds in which the caller needs the answer; with `none`, no default applies.", {
    anyOf: [{ type: "number", minimum: 0.001, maximum: 999_999_999 }, { const: NO_BUDGET }],
  }),
  [TIER_HEADER]: described("The only tier that may answer.", { enum: [...tiers, "auto"] }),
  [CALLER_HEADER]: described("Tells callers with the same key apart, so that they share what the key gets."),
  "x-request-id": REQUEST_ID,
}).map(([name, header]) => ({ name, ...header, in: "header", required: false }));

const responseHeaders = {
  [TIER_HEADER]: described("The tier that computed the answer.", { enum: tiers }),
  [REASON_HEADER]: described("Why this tier was chosen."),
  [DECISION_HEADER]: described("The figures behind the decision."),
  [PREDICTED_HEADER]: described("Predicted milliseconds of the tier.", { type: "number" }),
  [MODEL_HEADER]: described("Name and version of the model."),
  [PROVIDER_HEADER]: described("Execution provider that ran the model."),
  "x-request-id": REQUEST_ID,
};

const json = (schema: object, example?: unknown) => ({
  "application/json": { schema, ...(example !== undefined && { example }) },
});

const errorName = ({ id }: Dialect) => `${id}-error`;

/** Describes the errors of a dialect, by status. */
function errorsOf(dialect: Dialect): Record<string, object> {
  const content = json({ $ref: `#/components/schemas/${errorName(dialect)}` });
  const byStatus = Map.groupBy(
    Object.keys(errorStatus) as HttpErrorCode[],
    (code) => dialect.writeError({ code, message: "", hint: undefined }).status ?? errorStatus[code],
  );
  return Object.fromEntries(
    Array.from(byStatus, ([status, codes]) => [status, { description: codes.join(", "), content }]),
  );
}

const operationsOf = (dialect: Dialect) =>
  shownRoutes([dialect]).map((route) => [route.path, { post: operation(dialect, route) }]);

const operation = (dialect: Dialect, { schema, summary, example, response, runsModel }: Route) => ({
  tags: [dialect.name],
  summary,
  ...(runsModel && { parameters: requestHeaders }),
  requestBody: { required: true, content: json(bodySchema(schema), example) },
  responses: {
    200: {
      description: "The answer.",
      ...(runsModel && { headers: responseHeaders }),
      content: json(jsonSchema(response)),
    },
    ...errorsOf(dialect),
  },
});

/** Describes a GET route, which has no body. */
function simple(summary: string, statuses: Readonly<Record<number, string>>, secured = true) {
  const content = json({ type: "object" });
  const responses = Object.entries(statuses).map(([status, description]) => [status, { description, content }]);
  const security = secured ? {} : { security: [] };
  return { get: { tags: ["State"], summary, ...security, responses: Object.fromEntries(responses) } };
}

/** Describes the HTTP interface in OpenAPI 3.1: https://spec.openapis.org/oas/v3.1.1 */
export const openApiDocument = (dialects: readonly Dialect[]) => ({
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
    ...Object.fromEntries(dialects.flatMap(operationsOf)),
    "/health": simple("Whether the process runs.", { 200: "It runs." }, false),
    "/ready": simple("Whether the model is loaded.", { 200: "It is loaded.", 503: "It is not loaded yet." }, false),
    "/info": simple("What is served, and its limits.", { 200: "The model.", 401: "The key is missing or wrong." }),
    "/v1/models": simple("Names of the models.", { 200: "The models.", 401: "The key is missing or wrong." }),
  },
  components: {
    securitySchemes: { key: { type: "http", scheme: "bearer" } },
    schemas: Object.fromEntries(dialects.map((dialect) => [errorName(dialect), jsonSchema(dialect.errorBody)])),
  },
});

const options = { typeMode: "input", errorMode: "ignore", target: "draft-2020-12" } as const;

/** Returns the JSON Schema of the values that a schema accepts. Checks that JSON Schema cannot express are left out. */
export function jsonSchema(schema: v.GenericSchema): object {
  const { $schema, ...described } = toJsonSchema(schema, options);
  return described;
}

/** Returns the JSON Schema of a body. Optional fields can be null. */
function bodySchema(schema: v.GenericSchema): object {
  const { $schema, ...described } = toJsonSchema(schema, { ...options, overrideSchema: withNulls });
  return described;
}

/** Describes an optional field of a body, which can be null. Without valid values, leaves out the empty enum, which tools refuse. */
const withNulls: NonNullable<ConversionConfig["overrideSchema"]> = ({ valibotSchema, jsonSchema }) => {
  if (valibotSchema.type !== "optional") return undefined;
  const { default: value, ...schema } = jsonSchema;
  const { enum: values = [null] } = schema;
  return {
    anyOf: [...(values.length > 0 ? [schema] : []), { type: "null" }],
    ...(value !== undefined && { default: value }),
  };
};
