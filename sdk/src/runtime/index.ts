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
export type { ObjectStore } from "../storage/store.ts";
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
} from "./engine/engine.ts";
export { type DisposableModel, loadArtifact, loadPublished } from "./load-published.ts";
export type { Model, ModelOutputs } from "./model.ts";
export type { AnswerOptions, AnswerSpan } from "./tasks/answer.ts";
export { type AnswerParameters, answerCall, type ContextQuestion } from "./tasks/answer.ts";
export type { Activation, LabelScore } from "./tasks/classify.ts";
export { type ClassifyParameters, classifyCall } from "./tasks/classify.ts";
export { type EmbedInput, embedCall } from "./tasks/embed.ts";
export { type FilledMask, type FillMaskParameters, fillMaskCall } from "./tasks/fill-mask.ts";
export type { SearchRole } from "./tasks/late-interaction.ts";
export type { RankedDocument } from "./tasks/rerank.ts";
export { type RerankParameters, rerankCall, type SimilarityParameters, similarityCall } from "./tasks/rerank.ts";
export type { SparseEntries } from "./tasks/sparse.ts";
export { sparseCall } from "./tasks/sparse.ts";
export type { AggregationStrategy, Entity } from "./tasks/tag.ts";
export { type TagParameters, tagCall } from "./tasks/tag.ts";
export type {
  EmbedParameters,
  Encode,
  EncodedCall,
  EncodedInput,
  ModelCall,
  ModelOutput,
  PromptedParameters,
  TaskCall,
} from "./tasks/task-call.ts";
export { type TokenVectors, type TokenVectorsParameters, tokenVectorsCall } from "./tasks/token-vectors.ts";
export { type ZeroShotParameters, zeroShotCall } from "./tasks/zero-shot.ts";
export type { TextInput } from "./text-input.ts";
export type { EncodedPair, PlacedTokens, TextWindow, Tokenizer, WindowOptions } from "./tokenizer/tokenizer.ts";
export type { VocabularyText } from "./tokenizer/vocabulary-text.ts";
export type { Side, Truncation } from "./truncation.ts";
