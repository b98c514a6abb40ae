import { BertEdgeClientError } from "./bert-edge-client-error.ts";

/** The platform, a proxy or your own app refused the request because there were too many (429). */
export class RateLimitError extends BertEdgeClientError {
  override readonly name = "RateLimitError";
}
