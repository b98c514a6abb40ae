import type { Context } from "hono";
import type * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { parseJson } from "../../artifact/parse-json.ts";
import { checkLists } from "./check-lists.ts";
import { readBody } from "./read-body.ts";

const FIELDS_HINT = "GET /openapi.json lists the fields of every route, and GET /docs shows them.";

/**
 * Reads a request body as JSON and checks it against `schema`.
 *
 * @param maxItems maximum length of lists. Default: any
 * @throws BertEdgeError `content_type_unsupported`, `request_invalid`, `too_many_inputs`
 */
export async function jsonBody<S extends v.GenericSchema>(
  c: Context,
  schema: S,
  { hint, maxItems = Number.POSITIVE_INFINITY }: { hint?: string; maxItems?: number } = {},
): Promise<v.InferOutput<S>> {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    const found =
      type === undefined
        ? "The request has no content type."
        : `The request body has the content type ${type}, not application/json.`;
    throw new BertEdgeError("content_type_unsupported", found, { hint: "Send `Content-Type: application/json`." });
  }
  return parseJson(schema, await readBody(() => c.req.text()), {
    code: "request_invalid",
    what: "request body",
    quotes: true,
    hint: hint ?? ((field) => hintFor(c.req.path, field)),
    check: (json) => checkLists(json, maxItems),
  });
}

/**
 * Returns an example of the body that a route takes, or where to find its fields.
 *
 * @param field the one at fault; undefined if the whole body is
 */
function hintFor(path: string, field = "inputs"): string {
  if (field === "latency_budget_ms") return 'Give milliseconds, for example 30, or "none", or leave the field out.';
  if (field !== "inputs" && field !== "input") return FIELDS_HINT;
  if (/\/v1\/embed\/?$/.test(path)) return 'Send {"inputs": ["to be"]}.';
  if (/\/embeddings\/?$/.test(path)) return 'Send {"model": "<name>", "input": ["to be"]}.';
  return FIELDS_HINT;
}
