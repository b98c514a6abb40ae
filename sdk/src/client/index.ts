export type { HttpErrorCode } from "../serve/contract/errors.ts";
export type { Reason, Tier } from "../serve/contract/headers.ts";
export { BertEdge, type BertEdgeOptions } from "./bert-edge.ts";
export type {
  Embeddings,
  EmbedOptions,
  EmbedProgress,
  PartialEmbeddings,
  RequestDetails,
  SkippingOptions,
} from "./embeddings.ts";
export { AuthenticationError } from "./errors/authentication-error.ts";
export {
  BertEdgeClientError,
  type ClientErrorCode,
  type ErrorDetails,
  type OwnErrorCode,
} from "./errors/bert-edge-client-error.ts";
export { ConnectionError } from "./errors/connection-error.ts";
export { InvalidRequestError } from "./errors/invalid-request-error.ts";
export { RateLimitError } from "./errors/rate-limit-error.ts";
export { TimeoutError } from "./errors/timeout-error.ts";
export { UnavailableError } from "./errors/unavailable-error.ts";
export { VersionChangedError } from "./errors/version-changed-error.ts";
