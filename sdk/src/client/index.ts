export type { Reason, Tier } from "../serve/contract/headers.ts";
export type { CallOptions, TaskMethods, TaskOptions, TaskResult } from "../serve/contract/javascript.ts";
export { BertEdge, type BertEdgeOptions } from "./bert-edge.ts";
export type { EmbedManyOptions } from "./embed-many.ts";
export type {
  CallDetails,
  Embeddings,
  EmbedOptions,
  PartialEmbeddings,
  RequestDetails,
  SkippingOptions,
} from "./embeddings.ts";
export {
  AuthenticationError,
  BertEdgeClientError,
  type ClientErrorCode,
  ConnectionError,
  type ErrorDetails,
  InvalidRequestError,
  RateLimitError,
  TimeoutError,
  UnavailableError,
  VersionChangedError,
} from "./errors.ts";
