import * as v from "valibot";

/** Every error code of a response, with its HTTP status. Codes are stable; messages and hints may change. */
export const errorStatus = {
  request_invalid: 400,
  input_empty: 400,
  too_many_inputs: 400,
  input_too_long: 400,
  dimensions_unsupported: 400,
  task_unsupported: 400,
  prompt_unknown: 400,
  offsets_unsupported: 400,
  pairs_unsupported: 400,
  budget_invalid: 400,
  precision_unavailable: 400,
  request_too_costly: 400,
  too_many_page_reads: 400,
  tier_invalid: 400,
  tier_missing: 400,
  key_missing: 401,
  key_wrong: 401,
  model_unknown: 404,
  job_unknown: 404,
  route_unknown: 404,
  method_unsupported: 405,
  body_too_slow: 408,
  job_changed: 409,
  job_incomplete: 409,
  body_too_large: 413,
  content_type_unsupported: 415,
  rate_limited: 429,
  internal: 500,
  keys_not_configured: 503,
  setting_invalid: 503,
  model_unavailable: 503,
  overloaded: 503,
  tier_unavailable: 503,
  budget_exceeded: 504,
} as const;

export type HttpErrorCode = keyof typeof errorStatus;

/** Schema of the code in an error's body. */
export const Code = v.picklist(Object.keys(errorStatus) as HttpErrorCode[]);

/** The body of an error on bert-edge's own routes. */
export const ErrorBody = v.object({
  error: v.object({
    code: Code,
    message: v.string(),
    hint: v.exactOptional(v.string()),
    /** Index of the input at fault. The other inputs are valid, or were not checked yet. */
    index: v.exactOptional(v.number()),
  }),
});
export type ErrorBody = v.InferOutput<typeof ErrorBody>;
