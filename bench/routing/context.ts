import { existsSync } from "node:fs";
import { join } from "node:path";
import type { V4ModuleDefinition } from "miniflare";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { preparedArtifact } from "#sdk/cli/dev/prepared.ts";
import { MANIFEST_FILE } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";
import { s3Env, startObjectStorage } from "#test/fixtures/object-storage.ts";
import { workerModules } from "#test/fixtures/worker-modules.ts";
import type { Figure } from "../figures.ts";
import { float32Vectors } from "../float32-vectors.ts";
import { type Generator, startGenerator } from "./load/generator.ts";
import { olderCheckout } from "./older-checkout.ts";
import { olderVersion, type Versions } from "./versions.ts";

export const KEY = "key";

export interface RoutingOptions {
  /** A model folder or an artifact folder. */
  readonly model: string;
  /** Measure a part of the cases, once. */
  readonly quick: boolean;
  /** Measure the fewest cases, with few requests. */
  readonly short: boolean;
  /** Parts of names: matrix, quiet, fairness and memory measure the points whose name contains one of them. */
  readonly points: readonly string[];
  /** Length of a measured window. */
  readonly seconds: number;
  /** Interleaved rounds; the median counts. */
  readonly rounds: number;
  readonly seed: number;
  /** A commit, or the folder of a checkout that is installed and built. It is compared with this checkout. */
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
  /** The Worker of `functions/edge.ts`. */
  readonly modules: V4ModuleDefinition[];
  readonly versions: Versions;
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
  const env = { MODEL: name, API_KEYS: KEY, ...s3Env(storage.access) };
  const modules = await workerModules({ entryPoints: ["functions/edge.ts"] });
  const { model, against } = options;
  if (against) stage(`prepare with ${against}`);
  const older = against === undefined ? undefined : await olderCheckout(against);
  const before = older && (await olderVersion(older.root, { model, storage: storage.access, env }));
  const generator = startGenerator();
  return {
    options,
    artifact,
    env,
    modules,
    versions: { now: { modules, env }, ...(before && { before }) },
    generator,
    expected: existsSync(join(options.model, MANIFEST_FILE)) ? undefined : await float32Vectors(options.model),
    stage,
    figures,
    async close() {
      generator.stop();
      await storage.stop();
      await older?.[Symbol.asyncDispose]();
    },
  };
}
