import { join } from "node:path";
import * as v from "valibot";
import type { HubModel } from "../../../storage/hub-model.ts";
import { readJson } from "../../files/json-file.ts";
import { abortedError } from "../../subprocess/aborted.ts";
import { MODULES, ModuleEntries, transformerPath } from "../model-place.ts";
import { HubCache } from "./hub-cache.ts";
import type { RetryOptions } from "./hub-error.ts";
import { hubFetch, type TimeLimits } from "./hub-fetch.ts";
import { assertReadable, descriptionFiles, indexFile, modulesFile, weightFiles } from "./needed-files.ts";
import { hubRepository } from "./repository.ts";
import { type HubSettings, hubSettings } from "./settings.ts";
import { findCommit, Snapshot } from "./snapshot.ts";

/** A model of the Hub that is on this machine. */
export interface DownloadedModel {
  /** Folder of the model, or the ONNX file in it that was named. */
  readonly path: string;
  /** The model's name on the Hub. It differs from the name that was asked for if the model was renamed. */
  readonly name: string;
  readonly commit: string;
  /** Size of the model's files in bytes. */
  readonly bytes: number;
  /** Bytes of the files that the cache did not have. */
  readonly downloadedBytes: number;
  /** Whether the Hub was unavailable. `commit` is then the last known commit of the revision. */
  readonly isOffline: boolean;
}

export interface DownloadModelOptions extends RetryOptions {
  /** Default: from environment variables. */
  readonly settings?: HubSettings | undefined;
  readonly limits?: TimeLimits | undefined;
  /** Called with a description of the current download, and its finished share from 0 to 1. */
  readonly onProgress?: ((message: string, fraction: number) => void) | undefined;
}

const Shards = v.object({ weight_map: v.record(v.string(), v.string()) });

/**
 * Downloads those files of a model that bert-edge needs and that are not in the cache. An interrupted download continues
 * where it ended.
 *
 * @throws BertEdgeError `package_missing`, `setting_invalid`, `hub_model_missing`, `hub_access_denied`, `hub_unavailable`,
 *   `hub_answer_invalid`, `hub_file_corrupt`, `checkpoint_missing` if the model has no weights that can be read,
 *   `checkpoint_invalid`, `out_unwritable` for the cache folder, `aborted`
 */
export async function downloadModel(model: HubModel, options: DownloadModelOptions = {}): Promise<DownloadedModel> {
  const { settings = hubSettings(), signal } = options;
  try {
    return await download(model, settings, options);
  } catch (error) {
    throw signal?.aborted ? abortedError(signal) : error;
  }
}

async function download(
  model: HubModel,
  settings: HubSettings,
  options: DownloadModelOptions,
): Promise<DownloadedModel> {
  const { onProgress = () => {} } = options;
  const repository = await hubRepository(settings.endpoint, hubFetch({ ...options, ...settings, model }));
  const { at, isOffline } = await findCommit(model, settings.cache, repository, options);
  const { name, commit } = at;
  const snapshot = new Snapshot(at, repository, new HubCache(settings.cache, name), options);
  const { folder } = snapshot;

  const files = await snapshot.list();
  const listOfModules = modulesFile(files);
  let downloadedBytes = listOfModules ? await snapshot.get([listOfModules], () => {}) : 0;
  const modules = (await readJson(folder, MODULES, ModuleEntries)) ?? [];
  const transformer = transformerPath(modules);
  assertReadable(files, { ...model, name, folder: transformer });
  const described = descriptionFiles(files, transformer);
  downloadedBytes += await snapshot.get(described, () => {});
  const index = indexFile(files, transformer);
  const shards = index && (await readJson(folder, index.path, Shards));
  const further = weightFiles(files, {
    ...model,
    name,
    folder: transformer,
    modules: modules.map(({ path }) => path).filter((path) => path !== "" && path !== transformer),
    shards: [...new Set(Object.values(shards?.weight_map ?? {}))],
  });
  const bytes = sumOf(further);
  const message = `download ${name}@${commit.slice(0, 7)} (${megabytes(bytes)})`;
  downloadedBytes += await snapshot.get(further, (count) => onProgress(message, bytes === 0 ? 1 : count / bytes));

  const path = model.file === undefined ? folder : join(folder, model.file);
  return { path, name, commit, bytes: sumOf(described) + bytes, downloadedBytes, isOffline };
}

const sumOf = (files: readonly { size: number }[]): number => files.reduce((sum, { size }) => sum + size, 0);

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
