export type { Artifact, PublishableArtifact } from "./artifact/artifact.ts";
export { type Advice, BertEdgeError, type BertEdgeErrorDetails } from "./artifact/error.ts";
export type { ErrorCode } from "./artifact/error-codes.ts";
export type { Destination } from "./artifact/fill.ts";
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
} from "./artifact/manifest.ts";
export type { LatencyFit, Measurements } from "./artifact/measurements.ts";
export type { Pointer } from "./artifact/pointer.ts";
export { importSigningKey, type SigningKey } from "./artifact/signing-key.ts";
export { type LoadModelOptions, loadModel } from "./local/load-model.ts";
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
} from "./runtime/engine/engine.ts";
export { type DisposableModel, loadArtifact, loadPublished } from "./runtime/load-published.ts";
export type { Model, ModelOutputs } from "./runtime/model.ts";
export type { AnswerOptions, AnswerSpan } from "./runtime/tasks/answer.ts";
export { type AnswerParameters, answerCall, type ContextQuestion } from "./runtime/tasks/answer.ts";
export type { Activation, LabelScore } from "./runtime/tasks/classify.ts";
export { type ClassifyParameters, classifyCall } from "./runtime/tasks/classify.ts";
export { type EmbedInput, embedCall } from "./runtime/tasks/embed.ts";
export { type FilledMask, type FillMaskParameters, fillMaskCall } from "./runtime/tasks/fill-mask.ts";
export type { SearchRole } from "./runtime/tasks/late-interaction.ts";
export type { RankedDocument } from "./runtime/tasks/rerank.ts";
export {
  type RerankParameters,
  rerankCall,
  type SimilarityParameters,
  similarityCall,
} from "./runtime/tasks/rerank.ts";
export type { SparseEntries } from "./runtime/tasks/sparse.ts";
export { sparseCall } from "./runtime/tasks/sparse.ts";
export type { AggregationStrategy, Entity } from "./runtime/tasks/tag.ts";
export { type TagParameters, tagCall } from "./runtime/tasks/tag.ts";
export type {
  EmbedParameters,
  Encode,
  EncodedCall,
  EncodedInput,
  ModelCall,
  ModelOutput,
  PromptedParameters,
  TaskCall,
} from "./runtime/tasks/task-call.ts";
export {
  type TokenVectors,
  type TokenVectorsParameters,
  tokenVectorsCall,
} from "./runtime/tasks/token-vectors.ts";
export { type ZeroShotParameters, zeroShotCall } from "./runtime/tasks/zero-shot.ts";
export type { TextInput } from "./runtime/text-input.ts";
export type { EncodedPair, PlacedTokens, TextWindow, Tokenizer, WindowOptions } from "./runtime/tokenizer/tokenizer.ts";
export type { VocabularyText } from "./runtime/tokenizer/vocabulary-text.ts";
export type { Side, Truncation } from "./runtime/truncation.ts";
export { openFolder } from "./storage/folder-artifact.ts";
export { type Published, type PublishOptions, publish } from "./storage/publish.ts";
export type { ObjectStore, PutOptions, StoredObject, WritableStore } from "./storage/store.ts";
export type { Signing } from "./storage/write-pointer.ts";
