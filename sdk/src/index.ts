export type { Artifact, PublishableArtifact } from "./artifact/artifact.ts";
export { BertEdgeError, type BertEdgeErrorDetails } from "./artifact/error.ts";
export type { ErrorCode } from "./artifact/error-codes.ts";
export type { Destination } from "./artifact/fill.ts";
export type { GoldenTexts } from "./artifact/golden.ts";
export type { EmbedManifest, Manifest, Parity, Pooling, Target, TargetName } from "./artifact/manifest.ts";
export type { LatencyFit, Measurements } from "./artifact/measurements.ts";
export type { Pointer } from "./artifact/pointer.ts";
export { type LoadModelOptions, type LocalModel, loadModel } from "./local/load-model.ts";
export type {
  Batching,
  Engine,
  EngineSession,
  ModelFiles,
  ModelShape,
  TokenIds,
  TokenPair,
  TokenSequence,
  VectorHead,
} from "./runtime/engine/engine.ts";
export type { Model, ModelOutputs } from "./runtime/model.ts";
export { type EmbedParameters, embedCall } from "./runtime/tasks/embed-call.ts";
export type { PromptedParameters } from "./runtime/tasks/prompt.ts";
export type { Encode, ModelCall, TaskCall } from "./runtime/tasks/task-call.ts";
export type { TextInput } from "./runtime/text-input.ts";
export type { Tokenizer } from "./runtime/tokenizer/tokenizer.ts";
export { openFolder } from "./storage/folder-artifact.ts";
export { type Published, publish } from "./storage/publish.ts";
export type { ObjectStore, WritableStore } from "./storage/store.ts";
