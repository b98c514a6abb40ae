import { mkdir } from "node:fs/promises";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { HubModel } from "../../../storage/hub-model.ts";
import { assertWritableFolder } from "../../files/folders.ts";
import { downloadFile } from "./download-file.ts";
import { HubCache } from "./hub-cache.ts";
import { type RetryOptions, untilAvailable } from "./hub-error.ts";
import type { HubFile } from "./hub-file.ts";
import { type HubCommit, type HubRepository, isCommit } from "./repository.ts";

/** Files of one commit, in the cache and on the Hub. */
export class Snapshot {
  readonly #at: HubCommit;
  readonly #repository: HubRepository;
  readonly #cache: HubCache;
  readonly #options: RetryOptions;

  constructor(at: HubCommit, repository: HubRepository, cache: HubCache, options: RetryOptions) {
    this.#at = at;
    this.#repository = repository;
    this.#cache = cache;
    this.#options = options;
  }

  /** Folder of the commit's files on this machine. */
  get folder(): string {
    return this.#cache.snapshot(this.#at.commit);
  }

  /** Lists the files of the commit. Asks the Hub only if the cache does not have the list. */
  async list(): Promise<readonly HubFile[]> {
    const { commit } = this.#at;
    const known = await this.#cache.list(commit);
    if (known) return known;
    const files = await untilAvailable(() => this.#repository.list(this.#at), this.#options);
    await this.#cache.setList(commit, files);
    return files;
  }

  /**
   * Downloads the files that the cache does not have.
   *
   * @param onBytes called with the number of bytes of `files` that are on this machine
   * @returns the size of the downloaded files in bytes
   */
  async get(files: readonly HubFile[], onBytes: (bytes: number) => void): Promise<number> {
    const { commit } = this.#at;
    let here = 0;
    let downloaded = 0;
    for (const file of files) {
      if (!(await this.#cache.has(commit, file))) {
        if (!(await this.#cache.hasContent(file))) {
          const start = here;
          await this.#download(file, (bytes) => onBytes(start + bytes));
          downloaded += file.size;
        }
        await this.#cache.add(commit, file);
      }
      here += file.size;
      onBytes(here);
    }
    return downloaded;
  }

  async #download(file: HubFile, onBytes: (bytes: number) => void): Promise<void> {
    const folder = this.#cache.contents;
    await assertWritableFolder(folder);
    await mkdir(folder, { recursive: true });
    const request = (offset: number) => this.#repository.open(this.#at, file, offset);
    await downloadFile(file, { ...this.#options, folder, host: this.#repository.host, request, onBytes });
  }
}

interface FoundCommit {
  readonly at: HubCommit;
  /** Whether the Hub was unavailable. `at` is then the last known commit of the revision. */
  readonly isOffline: boolean;
}

/**
 * Returns the commit of a model's revision. Asks the Hub, unless the revision is itself a commit. If the Hub is unavailable,
 * returns the commit that the cache knows.
 *
 * @param root folder of the cache
 * @throws the errors of `HubRepository.resolve`
 */
export async function findCommit(
  model: HubModel,
  root: string,
  repository: HubRepository,
  options: RetryOptions,
): Promise<FoundCommit> {
  const { name, revision } = model;
  if (isCommit(revision)) return { at: { name, commit: revision }, isOffline: false };
  const known = await new HubCache(root, name).commitOf(revision);
  const ask = () => repository.resolve(model);
  try {
    const at = await (known === undefined ? untilAvailable(ask, options) : ask());
    await new HubCache(root, at.name).setCommit(revision, at.commit);
    return { at, isOffline: false };
  } catch (error) {
    const isUnavailable = error instanceof BertEdgeError && error.code === "hub_unavailable";
    if (known === undefined || !isUnavailable) throw error;
    return { at: { name, commit: known }, isOffline: true };
  }
}
