import { existsSync } from "node:fs";
import { join } from "node:path";
import type { V4ModuleDefinition } from "miniflare";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { preparedArtifact } from "#sdk/cli/dev/prepared.ts";
import { MANIFEST_FILE } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";
import { type ObjectStorage, s3Env, startObjectStorage } from "#test/fixtures/object-storage.ts";
import { workerModules } from "#test/fixtures/worker-modules.ts";
import type { Figure } from "../figures.ts";
import { float32Vectors } from "../float32-vectors.ts";
import { type Generator, startGenerator } from "./load/generator.ts";

export const KEY = "key";

export interface RoutingOptions {
  /** A model folder or an artifact folder. */
  readonly model: string;
  /** Measure a part of the cases, once. */
  readonly quick: boolean;
  /** Measure the fewest cases, with few requests. */
  readonly short: boolean;
  /** Parts of names: matrix and quiet measure the points whose name contains one of them. */
  readonly points: readonly string[];
  /** Length of a measured window. */
  readonly seconds: number;
  /** Interleaved rounds; the median counts. */
  readonly rounds: number;
  readonly seed: number;
  /** Folder of an older checkout, installed and built. It is compared with this one. */
  readonly against: string | undefined;
}

/** Output that all parts of the benchmark share. */
interface Output {
  stage(what: string): void;
  /** Agreement of the tiers that were started with float32. */
  readonly figures: Figure[];
}

/** Model, settings and output that all parts of the benchmark share. */
export interface Context extends Output {
  readonly options: RoutingOptions;
  readonly artifact: PublishableArtifact;
  /** Variables of both tiers: the model, where it is stored, and the API key. */
  readonly env: Readonly<Record<string, string>>;
  /** Where the model is stored. */
  readonly storage: ObjectStorage["access"];
  /** The Worker of `functions/edge.ts`. */
  readonly modules: V4ModuleDefinition[];
  readonly generator: Generator;
  /** Vectors of the probe texts in float32; undefined if the model is an artifact, which has no such weights. */
  readonly expected: readonly Float32Array[] | undefined;
  close(): Promise<void>;
}

/** Prepares the model, publishes it to an S3 server in this process, and starts the load generator. */
export async function openContext(options: RoutingOptions, { stage, figures }: Output): Promise<Context> {
  const artifact = await preparedArtifact({
    root: process.cwd(),
    folder: options.model,
    targets: ["edge", "regional-cpu"],
    onProgress: ({ message }) => stage(message),
  });
  stage("publish");
  const storage = await startObjectStorage();
  const { name } = await publish(artifact, s3Publisher(storage.access));
  const generator = startGenerator();
  return {
    options,
    artifact,
    storage: storage.access,
    env: { MODEL: name, API_KEYS: KEY, ...s3Env(storage.access) },
    modules: await workerModules({ entryPoints: ["functions/edge.ts"] }),
    generator,
    expected: existsSync(join(options.model, MANIFEST_FILE)) ? undefined : await float32Vectors(options.model),
    stage,
    figures,
    async close() {
      generator.stop();
      await storage.stop();
    },
  };
}
