import * as v from "valibot";
import { BertEdgeError } from "./error.ts";
import type { ErrorCode } from "./error-codes.ts";
import { printable, visible } from "./printable.ts";

/** Shortens a key or value for a message, and escapes its control characters. A value can be as long as the document. */
const shorten = (text: string): string => printable(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Matches characters of binary data in the message of `JSON.parse`, which quotes the document. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds them.
const BINARY = /[\0-\x08\x0e-\x1f\ufffd]/;

/**
 * Returns the error of a text that is not JSON.
 *
 * @param quotes whether to include the message of `JSON.parse`. It quotes the text, which only the sender of the text may see
 */
export function notJson(
  what: string,
  cause: unknown,
  { code, hint, quotes }: { code: ErrorCode; hint: string; quotes: boolean },
): BertEdgeError {
  const { message } = cause as SyntaxError;
  const place = BINARY.test(message)
    ? ": it is compressed, or not UTF-8"
    : quotes
      ? `: ${message.startsWith("Unexpected end") ? "it is empty, or ends too early" : shorten(message)}`
      : "";
  return new BertEdgeError(code, `The ${what} is not JSON${place}.`, { hint, cause });
}

/**
 * Parses `text` as JSON and checks it against a schema.
 *
 * @param code the error's code, or a function that chooses the code by valibot's issue. The issue is undefined if the text
 *   is not JSON
 * @param hint the error's hint, or a function that makes it from the name of the wrong field. The name is undefined if the
 *   text is not JSON, or not an object
 * @param check checks the JSON before the schema does
 * @param quotes whether the message quotes the place at which the text is not JSON. Default false: the quote could be a secret
 * @param what names the document in the message, e.g. "manifest at s3(models)/…"
 * @throws BertEdgeError with this code; the message names the wrong key
 */
export function parseJson<S extends v.GenericSchema>(
  schema: S,
  text: string,
  {
    code,
    what,
    hint,
    check,
    quotes = false,
  }: {
    code: ErrorCode | ((issue?: v.BaseIssue<unknown>) => ErrorCode);
    what: string;
    hint: string | ((field?: string) => string);
    check?: ((json: unknown) => void) | undefined;
    quotes?: boolean;
  },
): v.InferOutput<S> {
  const codeOf = typeof code === "function" ? code : () => code;
  const hintOf = typeof hint === "function" ? hint : () => hint;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw notJson(what, cause, { code: codeOf(), hint: hintOf(), quotes });
  }
  check?.(json);
  // Stops at the first issue: the message names only one, and a list can have an issue in every item.
  const result = v.safeParse(schema, json, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const at = visible(v.getDotPath(issue) ?? "its root");
  throw new BertEdgeError(codeOf(issue), `The ${what} is not valid at ${shorten(at)}: ${shorten(messageOf(issue))}`, {
    hint: hintOf(issue.path?.[0] && visible(String(issue.path[0].key))),
  });
}

/** Words for kinds of values, by the names that valibot gives them. */
const kinds: Readonly<Record<string, string>> = {
  ...{ string: "a string", number: "a number", boolean: "true or false", Object: "an object", Array: "a list" },
  // Schemas of request bodies pass this text to valibot in place of a list that must be an object, so that the list is not quoted.
  '"a list"': "a list",
};

/** Returns the message of an issue. Words the messages of valibot like those of the schemas: `must be a number, not "x"`. */
function messageOf({ message, type, expected, received }: v.BaseIssue<unknown>): string {
  if (message.startsWith("Invalid key: ") && received === "undefined") return "the field is missing";
  if (!/^Invalid [^:]*: (Expected .* but r|R)eceived /s.test(message)) return message;
  const allowed = expected ?? `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
  const wanted =
    kinds[allowed] ??
    allowed
      .replace(/^\((.*)\)$/s, "$1")
      .replace(/^>=/, "at least ")
      .replace(/^<=/, "at most ")
      .replaceAll(" | ", " or ");
  return `must be ${wanted}, not ${kinds[received] ?? received}`;
}
