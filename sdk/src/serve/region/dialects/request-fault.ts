import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { errorStatus, type HttpErrorCode } from "../../contract/errors.ts";

/** Longest text of the region that callers see, in characters. */
const MAX_TEXT = 500;
/** Longest text of a foreign region that the log shows, in characters. */
const MAX_LOGGED = 200;

const codes = (Object.keys(errorStatus) as HttpErrorCode[]).filter((code) => errorStatus[code] === 400);

const text = v.pipe(
  v.string(),
  v.transform((text) => text.slice(0, MAX_TEXT)),
);
const Fault = v.object({
  error: v.object({
    code: v.picklist(codes),
    message: text,
    hint: v.optional(text),
    index: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  }),
});

/**
 * Reads an error that our own region gives its caller.
 *
 * @param texts number of texts in the request
 */
export function faultOfCaller(json: unknown, texts: number): BertEdgeError | undefined {
  const parsed = v.safeParse(Fault, json);
  if (!parsed.success) return undefined;
  const { code, message, hint, index } = parsed.output.error;
  return (index ?? 0) < texts ? new BertEdgeError(code, message, { hint, index }) : undefined;
}

/** Returns the error for a request that a foreign region does not take, and that the edge answers itself. */
export const requestRefused = (message: string): BertEdgeError =>
  new BertEdgeError("region_failed", `The region refused a request: ${JSON.stringify(message.slice(0, MAX_LOGGED))}.`, {
    hint: "If the region takes fewer texts in a request, set `maxInputs`. If its texts are shorter, the edge answers.",
  });
