export type { HttpErrorCode } from "../serve/contract/errors.ts";
export type { AnswerFields } from "../serve/contract/fields.ts";
export type { Reason, Tier } from "../serve/contract/headers.ts";
export type { AnswerRequest, AnswerResponse, AnswerResult } from "../serve/tasks/answer.ts";
export type { ClassifyRequest, ClassifyResponse, LabelResult } from "../serve/tasks/classify.ts";
export type { FillMaskRequest, FillMaskResponse, MaskResult } from "../serve/tasks/fill-mask.ts";
export type { RerankRequest, RerankResponse, RerankResult } from "../serve/tasks/rerank.ts";
export type { SimilarityRequest, SimilarityResponse } from "../serve/tasks/similarity.ts";
export type { SparseRequest, SparseResponse } from "../serve/tasks/sparse.ts";
export type { EntityResult, TagRequest, TagResponse } from "../serve/tasks/tag.ts";
export type { TokenVectorsRequest, TokenVectorsResponse } from "../serve/tasks/token-vectors.ts";
export type { ZeroShotRequest, ZeroShotResponse } from "../serve/tasks/zero-shot.ts";
export { BertEdge, type BertEdgeOptions } from "./bert-edge.ts";
export type { ListTask } from "./call-all.ts";
export type { CamelCase, CamelName } from "./camel-case.ts";
export type { EmbedManyOptions } from "./embed-many.ts";
export type {
  CallDetails,
  CallOptions,
  Embeddings,
  EmbedOptions,
  EmbedProgress,
  PartialEmbeddings,
  RequestDetails,
  SkippingOptions,
  VectorOptions,
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
export type {
  AnswerRequestOptions,
  Answers,
  AskedQuestion,
  CallList,
  Classification,
  ClassifyInput,
  ClassifyRequestOptions,
  Entities,
  FilledMasks,
  FillMaskRequestOptions,
  Ranking,
  RerankRequestOptions,
  RouteAnswer,
  RouteOptions,
  Similarities,
  SimilarityRequestOptions,
  SparseRequestOptions,
  SparseVectors,
  TagRequestOptions,
  TaskMethods,
  TextOrTexts,
  TokenVectorLists,
  TokenVectorsRequestOptions,
  ZeroShotClassification,
  ZeroShotRequestOptions,
} from "./task-methods.ts";
