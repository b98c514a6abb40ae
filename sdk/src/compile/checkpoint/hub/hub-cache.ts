import { randomUUID } from "node:crypto";
import { copyFile, link, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { isAbsent } from "../../../storage/absent.ts";
import { isInnerPath } from "../../../storage/inner-path.ts";
import { replaceFile } from "../../files/output-file.ts";
import { MAX_JSON_BYTES, wholeText } from "../../files/whole-file.ts";
import { fileSize, type HubFile, KeptFile } from "./hub-file.ts";
import { isCommit } from "./repository.ts";

/** A list of files that `setList` wrote. */
const KeptFiles = v.pipe(v.string(), v.parseJson(), v.array(KeptFile));

/**
 * A model's folder in the cache. It has the layout of Hugging Face's own cache, so that bert-edge can share its folder:
 * `blobs/<hash>` are the contents, `snapshots/<commit>/<path>` the files of a commit, `refs/<revision>` the commits of
 * branches and tags. Only bert-edge writes `bert-edge/<commit>.json`, the list of a commit's files.
 * https://huggingface.co/docs/huggingface_hub/guides/manage-cache
 */
export class HubCache {
  readonly #folder: string;

  /**
   * @param root folder of all models
   * @param name `organization/model`
   */
  constructor(root: string, name: string) {
    this.#folder = join(root, `models--${name.replaceAll("/", "--")}`);
  }

  /** Folder with the contents of files, complete and incomplete. */
  get contents(): string {
    return join(this.#folder, "blobs");
  }

  snapshot(commit: string): string {
    return join(this.#folder, "snapshots", commit);
  }

  /** Whether the cache has a file of a commit. */
  async has(commit: string, { path, size }: HubFile): Promise<boolean> {
    return (await fileSize(join(this.snapshot(commit), path))) === size;
  }

  /** Whether the cache has the content of a file, for example from another commit. */
  async hasContent({ hash, size }: HubFile): Promise<boolean> {
    return (await fileSize(join(this.contents, hash))) === size;
  }

  /** Adds a file to a commit. `contents` must already have the content. */
  async add(commit: string, { path, hash }: HubFile): Promise<void> {
    const target = join(this.snapshot(commit), path);
    const blob = join(this.contents, hash);
    const temporary = join(this.contents, `${randomUUID()}.tmp`);
    await mkdir(dirname(target), { recursive: true });
    // Makes a hard link. A symbolic link, as Hugging Face's tools make it, would lead out of the commit's folder.
    await link(blob, temporary).catch(() => copyFile(blob, temporary));
    await rename(temporary, target).finally(() => rm(temporary, { force: true }));
  }

  /** Returns the commit that a branch or tag had when the Hub was last asked; undefined if the cache does not know it. */
  async commitOf(revision: string): Promise<string | undefined> {
    const commit = (await textOf(this.#ref(revision)))?.trim();
    return commit !== undefined && isCommit(commit) ? commit : undefined;
  }

  async setCommit(revision: string, commit: string): Promise<void> {
    return replaceFile(this.#ref(revision), commit);
  }

  /** Returns the list of a commit's files, which never changes; undefined if it is not known or not readable. */
  async list(commit: string): Promise<HubFile[] | undefined> {
    const kept = v.safeParse(KeptFiles, await textOf(this.#list(commit)));
    return kept.success ? kept.output : undefined;
  }

  setList(commit: string, files: readonly HubFile[]): Promise<void> {
    return replaceFile(this.#list(commit), JSON.stringify(files));
  }

  #ref(revision: string): string {
    if (isInnerPath(revision)) return join(this.#folder, "refs", revision);
    throw new Error(`The revision ${JSON.stringify(revision)} is a path that leads out of the cache.`);
  }

  #list(commit: string): string {
    return join(this.#folder, "bert-edge", `${commit}.json`);
  }
}

const textOf = (path: string): Promise<string | undefined> =>
  wholeText(path, MAX_JSON_BYTES).catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw error;
  });
