import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";

/** Where a Worker reads its model: the folder in which workerd stores an R2 bucket, or the URL of a web server. */
export type ModelSource = { readonly bucket: string } | { readonly url: string };

/** A store of models, and how a Worker reaches it. */
export interface ModelStore {
  readonly source: ModelSource;
  publish(artifact: PublishableArtifact): Promise<void>;
  /** Number of requests so far. Missing if it cannot be observed. */
  readonly requests?: () => number;
  stop(): Promise<void>;
}
