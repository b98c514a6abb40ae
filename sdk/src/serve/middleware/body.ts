import type { Context } from "hono";
import type * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { parseJson } from "../../artifact/parse-json.ts";
import { noted } from "./variables.ts";

/**
 * Reads a request body as JSON and checks it against `schema`.
 *
 * @param options.maxItems maximum length of lists. Default: any
 * @throws BertEdgeError `content_type_unsupported`, `request_invalid`, `too_many_inputs`
 */
export async function jsonBody<S extends v.GenericSchema>(
  c: Context,
  schema: S,
  options: { hint: string | ((field?: string) => string); maxItems?: number },
): Promise<v.InferOutput<S>> {
  const { hint, maxItems = Number.POSITIVE_INFINITY } = options;
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    const found =
      type === undefined
        ? "The request has no content type."
        : `The request body has the content type ${type}, not application/json.`;
    throw new BertEdgeError("content_type_unsupported", found, { hint: "Send `Content-Type: application/json`." });
  }
  return parseJson(schema, await bodyText(c), {
    code: "request_invalid",
    what: "request body",
    quotes: true,
    hint,
    check: (json) => checkLists(json, maxItems),
  });
}

/** Returns a function that makes the hint for a wrong field, from a valid example body of the route. */
export const hintsWith =
  (example: unknown) =>
  (field?: string): string => {
    const fields = Object(example) as Record<string, unknown>;
    if (field === undefined) return `Send a body such as ${JSON.stringify(example)}.`;
    if (Object.hasOwn(fields, field)) return `Set \`${field}\` to a value such as ${JSON.stringify(fields[field])}.`;
    if (field === "latency_budget_ms") return 'Give milliseconds, for example 30, or "none", or leave the field out.';
    return `Correct \`${field.slice(0, 80)}\`, or leave it out. GET /docs shows the fields.`;
  };

/**
 * Reads a request's body as text.
 *
 * @throws BertEdgeError `request_invalid` if it ends early, and the errors of `receivedText`
 */
export async function bodyText(c: Context): Promise<string> {
  try {
    return await (noted(c, "flight")?.bodyText() ?? c.req.text());
  } catch (cause) {
    if (cause instanceof BertEdgeError) throw cause;
    throw new BertEdgeError("request_invalid", "The request body ended before it was complete.", {
      hint: "Send the whole body, and keep the connection open until the answer has arrived.",
      cause,
    });
  }
}

/** Maximum number of token ids in a body: 2,048 texts of 122 tokens. */
const MAX_NUMBERS = 250_000;
/** Maximum depth to which lists are checked. The deepest lists of any schema are lists of lists in `parameters`. */
const MAX_DEPTH = 5;

const SPLIT_HINT = "Send the inputs in several requests";

/**
 * Checks the lengths of all lists of a body before a schema reads their items: a body of 4 MB can contain a million items.
 *
 * @param maxItems maximum length of a list, unless it begins with a number
 * @throws BertEdgeError `too_many_inputs`; `request_invalid` if lists have more than `MAX_NUMBERS` numbers together
 */
function checkLists(body: unknown, maxItems: number): void {
  let numbers = 0;

  function visit(value: unknown, name: string, depth: number): void {
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
    if (!Array.isArray(value)) {
      for (const [key, inner] of Object.entries(value)) visit(inner, key, depth + 1);
      return;
    }
    if (typeof value[0] === "number") {
      numbers += value.length;
      if (numbers <= MAX_NUMBERS) return;
      const found = `The ${shown(name)} has too many token ids: a request has up to ${MAX_NUMBERS}.`;
      throw new BertEdgeError("request_invalid", found, { hint: `${SPLIT_HINT}, or send texts.` });
    }
    if (value.length > maxItems) {
      const found = `The ${shown(name)} has ${value.length} items, but at most ${maxItems} are allowed.`;
      throw new BertEdgeError("too_many_inputs", found, { hint: `${SPLIT_HINT}.` });
    }
    for (const item of value) visit(item, name, depth + 1);
  }

  visit(body, "", 0);
}

const shown = (name: string): string => (name === "" ? "body" : `list \`${name.slice(0, 100)}\``);
