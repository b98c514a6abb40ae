export type { Artifact } from "../artifact/artifact.ts";
export { type Advice, BertEdgeError, type BertEdgeErrorDetails } from "../artifact/error.ts";
export type { ErrorCode } from "../artifact/error-codes.ts";
export type { Destination } from "../artifact/fill.ts";
export type {
  EmbedManifest,
  GoldenTexts,
  Manifest,
  Parity,
  Pooling,
  ScoreActivation,
  Similarity,
  Target,
  TargetName,
} from "../artifact/manifest.ts";
export type { LatencyFit, Measurements } from "../artifact/measurements.ts";
export type {
  Batching,
  Engine,
  EngineSession,
  MarkedTokens,
  ModelFiles,
  ModelShape,
  TokenIds,
  TokenPair,
  TokenSequence,
  VectorHead,
} from "../runtime/engine/engine.ts";
export type { Model, ModelOutputs } from "../runtime/model.ts";
export {
  type AnswerOptions,
  type AnswerParameters,
  type AnswerSpan,
  answerCall,
  type ContextQuestion,
} from "../runtime/tasks/answer.ts";
export { type Activation, type ClassifyParameters, classifyCall, type LabelScore } from "../runtime/tasks/classify.ts";
export { type EmbedInput, embedCall } from "../runtime/tasks/embed.ts";
export { type FilledMask, type FillMaskParameters, fillMaskCall } from "../runtime/tasks/fill-mask.ts";
export type { SearchRole } from "../runtime/tasks/late-interaction.ts";
export {
  type RankedDocument,
  type RerankParameters,
  rerankCall,
  type SimilarityParameters,
  similarityCall,
} from "../runtime/tasks/rerank.ts";
export { type SparseEntries, sparseCall } from "../runtime/tasks/sparse.ts";
export { type AggregationStrategy, type Entity, type TagParameters, tagCall } from "../runtime/tasks/tag.ts";
export type {
  EmbedParameters,
  Encode,
  EncodedCall,
  EncodedInput,
  ModelCall,
  ModelOutput,
  PromptedParameters,
  TaskCall,
} from "../runtime/tasks/task-call.ts";
export {
  type TokenVectors,
  type TokenVectorsParameters,
  tokenVectorsCall,
} from "../runtime/tasks/token-vectors.ts";
export { type ZeroShotParameters, zeroShotCall } from "../runtime/tasks/zero-shot.ts";
export type { TextInput } from "../runtime/text-input.ts";
export type {
  EncodedPair,
  PlacedTokens,
  TextWindow,
  Tokenizer,
  WindowOptions,
} from "../runtime/tokenizer/tokenizer.ts";
export type { VocabularyText } from "../runtime/tokenizer/vocabulary-text.ts";
export type { Side, Truncation } from "../runtime/truncation.ts";
export type { ObjectStore } from "../storage/store.ts";
export type { DecisionLog } from "./answering/observer.ts";
export type { Background, CallContext } from "./background.ts";
export type { JobsBatch, JobsBucket, JobsObject, JobsPlace, JobsQueue } from "./bulk/bindings.ts";
export type { ApiKey, CallDefaults, KeyLimits, KeyWithDefaults } from "./call-defaults.ts";
export type {
  CallInProcess,
  EmbedAnswer,
  EmbedCallOptions,
  EmbedInProcess,
  InProcess,
  InProcessAnswer,
  InProcessOptions,
} from "./call-in-process.ts";
export type { Budget, BudgetSetter, Figure, Figures } from "./contract/decision.ts";
export type { NumberFormat, Reason, Tier } from "./contract/headers.ts";
export type { EmbeddingsOptions, PageBinding, Setting } from "./deployment.ts";
export { createEdgeApp, type EdgeAppOptions, type EdgeBindings } from "./edge-app.ts";
export { type EmbeddingsApp, embeddings } from "./embedding-routes.ts";
export { type KeysEnv, keysFromEnv, keysFromStore, parseKeys } from "./keys/key-list.ts";
export type { Limits } from "./limits.ts";
export type { RateLimit, RateLimiter } from "./middleware/limits.ts";
export type { AnalyticsDataset } from "./middleware/log-request.ts";
export type { AnswerStore, ResponseCache } from "./middleware/response-cache.ts";
export type { WarmUpShape } from "./models/model-holder.ts";
export { type ModelCache, type PublishedModelsOptions, publishedModels } from "./models/published-models.ts";
export type { CrossOrigin } from "./operations.ts";
export type { Caller, Hold } from "./queue/caller.ts";
export type { AnswerEstimate, Estimate } from "./queue/speed.ts";
export type { RegionQuestion } from "./region/dialects/dialect.ts";
export type { ExpectedAnswer } from "./region/expected-answer.ts";
export type { AskingThread } from "./region/probe.ts";
export type { ProvableModel } from "./region/proof.ts";
export { type Region, type RegionEnv, regionFromEnv, regionTier } from "./region/region.ts";
export type {
  AwsAccess,
  HttpDialect,
  HttpRegionAddress,
  RegionAddress,
  RegionTierOptions,
  RegionTiming,
  WorkersAiAddress,
  WorkersAiBinding,
} from "./region/region-settings.ts";
export type { RegionCallOptions, RegionQuery, RegionTier } from "./region/region-tier.ts";
export { createRegionApp, type RegionAppOptions } from "./region-app.ts";
export type { QueueHandler } from "./routes/jobs.ts";
export type { ArrivalTime, Deadline } from "./routing/deadline.ts";
export { type AliasesEnv, aliasesFromEnv, type ModelAliases } from "./served-names.ts";
export type { AnswerDetails, CallTerms, Cost, TierAnswer } from "./service.ts";
export type { RequestTrace } from "./trace.ts";
