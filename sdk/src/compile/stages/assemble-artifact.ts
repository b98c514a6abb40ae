import { basename, resolve } from "node:path";
import * as v from "valibot";
import { describeFiles } from "../../artifact/describe-file.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { MANIFEST_FORMAT, type Manifest, ModelName, type Target, type TargetName } from "../../artifact/manifest.ts";
import { hubModel } from "../../storage/hub-model.ts";
import { modelPlace } from "../checkpoint/model-place.ts";
import type { TextModel } from "../model/text-model.ts";
import type { WrittenArtifact } from "../pack/write-artifact.ts";

type Files = Map<string, Uint8Array<ArrayBuffer>>;

/** A quantized target with its measured accuracy and its model file. */
export interface PackedTarget {
  readonly name: TargetName;
  readonly target: Omit<Target, "model">;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Extension of the model file's name. */
  readonly extension: string;
}

/** Assembles targets, tokenizer and manifest. Targets with the same model bytes share a file. */
export async function assembleArtifact(
  name: string,
  model: TextModel,
  packed: readonly PackedTarget[],
): Promise<Omit<WrittenArtifact, "measurements">> {
  const files: Files = new Map();
  const targets: Manifest["targets"] = {};
  for (const { name: targetName, target, bytes, extension } of packed) {
    targets[targetName] = { ...target, model: addFile(files, bytes, `${target.precision}.${extension}`) };
  }
  for (const [file, bytes] of model.tokenizer.files) files.set(file, bytes);
  return { manifest: await manifestOf(name, model, files, targets), files };
}

/**
 * Returns the manifest of an artifact.
 *
 * @param files model files of the targets and files of the tokenizer
 */
export const manifestOf = async (
  name: string,
  { task, maxTokens, config, tokenizer }: TextModel,
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
  targets: Manifest["targets"],
): Promise<Manifest> => ({
  format: MANIFEST_FORMAT,
  name,
  ...task,
  maxTokens,
  vocabulary: config.vocabularySize,
  tokenizer: tokenizer.manifest,
  files: await describeFiles(files),
  targets,
});

/** Adds a model file and returns its name. If a file with the same bytes exists, returns the name of that file. */
function addFile(files: Files, bytes: Uint8Array<ArrayBuffer>, name: string): string {
  const same = [...files].find(([, known]) => Buffer.compare(known, bytes) === 0);
  if (same) return same[0];
  const free = [`model.${name}`, `model.2.${name}`].find((each) => !files.has(each)) as string;
  files.set(free, bytes);
  return free;
}

/**
 * Returns a model's name: `given`, or the name of the model's folder.
 *
 * @param model path of the model's folder, or the files of the folder
 * @throws BertEdgeError `name_invalid`
 */
export function modelName(given: string | undefined, model: string | ReadonlyMap<string, Uint8Array>): string {
  const name =
    given ?? (typeof model === "string" ? basename(hubModel(model)?.name ?? resolve(modelPlace(model).folder)) : "");
  const result = v.safeParse(ModelName, name.toLowerCase());
  if (result.success) return result.output;
  throw new BertEdgeError(
    "name_invalid",
    `${JSON.stringify(name)} cannot be a model's name: ${result.issues[0].message}.`,
    { hint: "Choose a name with --name, or with the option `name`." },
  );
}
