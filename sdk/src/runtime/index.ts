export type { Artifact } from "../artifact/artifact.ts";
export { type Advice, BertEdgeError, type BertEdgeErrorDetails } from "../artifact/error.ts";
export type { ErrorCode } from "../artifact/error-codes.ts";
export type { ObjectStore } from "../storage/store.ts";
export type { Engine } from "./engine/engine.ts";
export { loadArtifact, loadPublished } from "./load-published.ts";
export type { LocalModel } from "./local-model.ts";
export { type ModelCache, type PublishedModelsOptions, publishedModels } from "./models/published-models.ts";
export type { TaskMethods, TaskOptions, TaskResult } from "./tasks/task-methods.ts";
