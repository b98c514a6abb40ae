import {
  BUDGET_HEADER,
  CALLER_HEADER,
  MODEL_HEADER,
  PRECISION_HEADER,
  PROVIDER_HEADER,
  QUEUE_HEADER,
  TIER_HEADER,
} from "./headers.ts";

/**
 * The only header that SageMaker passes from a caller to a container, and from a container back to the caller. It has at
 * most 1,024 visible ASCII characters: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html.
 * bert-edge writes it like the query of a URL: `path=v1/embed&x-latency-budget-ms=80.0`, percent-encoded.
 */
export const ATTRIBUTES_HEADER = "x-amzn-sagemaker-custom-attributes";
const MAX_CHARACTERS = 1_024;

/** Request: the path of the region's route. */
export const PATH_ATTRIBUTE = "path";
/** Response: the status of a refusal, if the request named a path. SageMaker replaces responses whose status is not 200. */
export const STATUS_ATTRIBUTE = "status";

/** Headers that a request carries as attributes. */
export const requestAttributes = [
  BUDGET_HEADER,
  PRECISION_HEADER,
  TIER_HEADER,
  "x-request-id",
  "traceparent",
  CALLER_HEADER,
] as const;
/** Headers that a response carries as attributes, the most important ones first. */
export const responseAttributes = [
  QUEUE_HEADER,
  "retry-after-ms",
  PROVIDER_HEADER,
  MODEL_HEADER,
  "server-timing",
  "x-request-id",
] as const;

/** Writes attributes. Leaves out those that no longer fit. */
export function writeAttributes(attributes: Iterable<readonly [name: string, value: string]>): string {
  let text = "";
  for (const [name, value] of attributes) {
    const next = `${text && "&"}${new URLSearchParams([[name, value]])}`;
    if (text.length + next.length <= MAX_CHARACTERS) text += next;
  }
  return text;
}

/** Reads attributes. A header in any other format causes no error, only attributes with names that no code reads. */
export const readAttributes = (header: string | null): ReadonlyMap<string, string> =>
  new Map(new URLSearchParams((header ?? "").slice(0, MAX_CHARACTERS)));
