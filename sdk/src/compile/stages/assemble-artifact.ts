import { mkdir, readFile, rename, truncate, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import * as v from "valibot";
import { describeFile, describeFiles } from "../../artifact/describe-file.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { GOLDEN_FILE, writeGolden } from "../../artifact/golden.ts";
import type { GoldenTexts } from "../../artifact/manifest.ts";
import {
  MANIFEST_FORMAT,
  type Manifest,
  type ManifestFile,
  ModelName,
  type Target,
  type TargetName,
} from "../../artifact/manifest.ts";
import { MANIFEST_FILE } from "../../storage/folder-artifact.ts";
import { hubModel } from "../../storage/hub-model.ts";
import { modelPlace } from "../checkpoint/model-place.ts";
import { release } from "../files/stored-file.ts";
import type { TextModel } from "../model/text-model.ts";
import { jsonBytes } from "../pack/write-artifact.ts";

/** A quantized target with its measured accuracy and its model file. */
export interface PackedTarget {
  readonly name: TargetName;
  readonly target: Omit<Target, "model">;
  /** Path of the model file, which pages of its token embedding table follow in the same file. */
  readonly path: string;
  /** Bytes of the model file. */
  readonly modelBytes: number;
  /** Extension of the model file's name. */
  readonly extension: string;
}

export interface ArtifactParts {
  readonly name: string;
  readonly model: TextModel;
  readonly packed: readonly PackedTarget[];
  readonly golden: GoldenTexts | undefined;
  /** Whether the artifact is a draft: prepared fast, for a first look. */
  readonly draft: boolean;
}

/**
 * Makes an artifact folder: moves the model files to it, and writes the tokenizer, the golden texts and the manifest.
 * Targets with the same model bytes share a file. Only one model file at a time is in memory.
 *
 * @param folder path of the folder, which is created
 */
export async function assembleArtifact(
  folder: string,
  { name, model, packed, golden, draft }: ArtifactParts,
): Promise<void> {
  await mkdir(folder);
  const small = new Map(model.tokenizer.files);
  if (golden) small.set(GOLDEN_FILE, writeGolden(golden));
  const files = await describeFiles(small);
  for (const [file, bytes] of small) await writeFile(join(folder, file), bytes);
  const targets: Manifest["targets"] = {};
  for (const { name: targetName, target, path, modelBytes, extension } of packed) {
    const bytes = await readFile(path);
    const described = await describeFile(new Uint8Array(bytes.buffer, bytes.byteOffset, modelBytes));
    const file = nameOf(files, described, `${target.precision}.${extension}`);
    files[file] = described;
    const pages: string[] = [];
    for (let begin = modelBytes; begin < bytes.length; begin += PAGES_FILE_BYTES) {
      const part = bytes.subarray(begin, begin + PAGES_FILE_BYTES);
      const pagesFile = `${file.replace(/\.[^.]*$/, "")}.pages-${pages.length + 1}.bin`;
      files[pagesFile] = await describeFile(new Uint8Array(part));
      await writeFile(join(folder, pagesFile), part);
      pages.push(pagesFile);
    }
    release(bytes);
    await truncate(path, modelBytes);
    await rename(path, join(folder, file));
    targets[targetName] = { ...target, model: file, ...(pages.length > 0 && { pages }) };
  }
  await writeFile(
    join(folder, MANIFEST_FILE),
    jsonBytes({ ...manifestOf(name, model, files, targets), ...(draft && { draft }) }),
  );
}

/** Maximum bytes of a file with pages: static assets of Cloudflare have at most 25 MiB. */
const PAGES_FILE_BYTES = 16 * 2 ** 20;

/**
 * Returns the manifest of an artifact.
 *
 * @param files model files of the targets, files of the tokenizer, and the golden texts
 */
export const manifestOf = (
  name: string,
  { task, maxTokens, config, tokenizer, acceptedKeys }: TextModel,
  files: Manifest["files"],
  targets: Manifest["targets"],
): Manifest => ({
  format: MANIFEST_FORMAT,
  name,
  ...task,
  maxTokens,
  vocabulary: config.vocabularySize,
  ...(acceptedKeys.length > 0 && { acceptedKeys: [...acceptedKeys] }),
  tokenizer: tokenizer.manifest,
  files,
  ...(Object.hasOwn(files, GOLDEN_FILE) && { golden: GOLDEN_FILE }),
  targets,
});

/** Returns the name for a model file: the name of a file with the same bytes, or a new one. */
function nameOf(files: Manifest["files"], { sha256 }: ManifestFile, name: string): string {
  const same = Object.entries(files).find(([, known]) => known.sha256 === sha256);
  return same?.[0] ?? ([`model.${name}`, `model.2.${name}`].find((each) => !(each in files)) as string);
}

function nameOfModel(model: string): string {
  const hub = hubModel(model);
  return hub ? basename(hub.name) : folderName(modelPlace(model).root);
}

/**
 * Returns a model's name: `given`, or the name of the model's folder.
 *
 * @param model path of the model's folder, or the files of the folder
 * @throws BertEdgeError `name_invalid`
 */
export function modelName(given: string | undefined, model: string | ReadonlyMap<string, Uint8Array>): string {
  const name = given ?? (typeof model === "string" ? nameOfModel(model) : "");
  const result = v.safeParse(ModelName, name.toLowerCase());
  if (result.success) return result.output;
  throw new BertEdgeError(
    "name_invalid",
    `${JSON.stringify(name)} cannot be a model's name: ${result.issues[0].message}.`,
    { hint: "Choose a name with --name, or with the option `name`." },
  );
}

/** A commit's folder in the cache of Hugging Face's tools: `models--org--name/snapshots/<commit>`. */
const COMMIT = /^[0-9a-f]{40}$/;
const CACHED = /^models--(?:.+--)?(?<name>.+)$/;

/** Returns the name of a model's folder. For a folder in a cache of the Hugging Face Hub, returns the model's name, not the commit. */
export function folderName(folder: string): string {
  const path = resolve(folder);
  const snapshots = dirname(path);
  const isSnapshot = COMMIT.test(basename(path)) && basename(snapshots) === "snapshots";
  const cached = isSnapshot ? CACHED.exec(basename(dirname(snapshots))) : null;
  return cached?.groups?.["name"] ?? basename(path);
}
