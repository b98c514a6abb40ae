import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Pooling } from "#sdk/artifact/manifest.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { loadArtifact } from "#sdk/runtime/load-published.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";

export const PACKAGE = "@huggingface/transformers";
/** The version of transformers.js that docs/comparison.md compares with. */
export const VERSION = "4.3.1";

/** Where the models are, and how their vectors are made. */
export interface Measured {
  /** Artifact folder. */
  readonly artifact: string;
  /** Folder with transformers.js in node_modules, and the float32 model in models/measured. */
  readonly installed: string;
  readonly pooling: Pooling;
  readonly normalize: boolean;
}

type Embed = (text: string) => Promise<Float32Array>;

interface Tensor {
  readonly data: Float32Array;
  readonly dims: readonly [texts: number, tokens: number, dimensions: number];
}

interface Transformers {
  readonly env: { localModelPath: string; allowRemoteModels: boolean };
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => Tensor;
  readonly AutoModel: {
    from_pretrained(
      model: string,
      options: object,
    ): Promise<(inputs: Readonly<Record<string, Tensor>>) => Promise<{ readonly last_hidden_state: Tensor }>>;
  };
  pipeline(
    task: "feature-extraction",
    model: string,
    options: object,
  ): Promise<(text: string, options: object) => Promise<{ data: Float32Array }>>;
}

/** How transformers.js names the poolings; it has no maximum. */
export const poolingNames: Readonly<Record<Pooling, string | undefined>> = {
  mean: "mean",
  cls: "cls",
  last: "last_token",
  max: undefined,
};

const ours =
  (engine: "wasm" | "ort-node") =>
  async ({ artifact }: Measured): Promise<Embed> => {
    const model = await loadArtifact(await openFolder(artifact), await engineOnThisMachine(engine));
    return async (text) => (await model.embed(text)).embeddings[0] ?? new Float32Array();
  };

/** Imports transformers.js from the folder in which `installTransformers` put it. It loads models only from there. */
export async function importTransformers(installed: string): Promise<Transformers> {
  const entry = createRequire(join(installed, "package.json")).resolve(PACKAGE);
  const library = (await import(pathToFileURL(entry).href)) as Transformers;
  Object.assign(library.env, { localModelPath: join(installed, "models/"), allowRemoteModels: false });
  return library;
}

async function transformers({ installed, pooling, normalize }: Measured): Promise<Embed> {
  const { pipeline } = await importTransformers(installed);
  const options = { dtype: "fp32", session_options: { intraOpNumThreads: 1 } };
  const extract = await pipeline("feature-extraction", "measured", options);
  return async (text) => (await extract(text, { pooling: poolingNames[pooling], normalize })).data;
}

/** Engines that are compared. The first one is float32. */
export const engines = {
  "transformers.js, float32": transformers,
  "edge, WebAssembly": ours("wasm"),
  "region, CPU": ours("ort-node"),
};
export type EngineName = keyof typeof engines;
