import { existsSync, readdirSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import type { TargetName } from "../../artifact/manifest.ts";
import type { PrepareOptions, PrepareReport } from "../../compile/commands/prepare.ts";
import type { Progress } from "../../compile/stages/stage.ts";
import { MANIFEST_FILE, openFolder } from "../../storage/folder-artifact.ts";
import { printNote } from "../output.ts";
import { passedOver } from "../prepare-report.ts";
import { packageFile } from "../wrangler/installed.ts";

/** Folder of prepared artifacts, relative to the project's folder. */
const CACHE = ".bert-edge/dev";

/** Folder of a project's models, relative to the project's folder. */
const MODELS = "models";

/** Name of a finished artifact's folder: see `keyOf`. Other folders belong to runs that are still preparing. */
const KEY = /^[0-9a-f]{16}$/;

interface PreparedOptions {
  /** The project's folder. */
  root: string;
  /** A model folder or an artifact folder. */
  folder: string;
  name?: string | undefined;
  targets: readonly TargetName[];
  /** Keys of the folder's modules that bert-edge does not know, and that the user accepts. */
  acceptKeys?: readonly string[] | undefined;
  onProgress: (progress: Progress) => void;
  /** Default: `prepare` of this package. */
  prepare?: (options: PrepareOptions & { readonly out: string }) => Promise<PrepareReport>;
}

/**
 * Returns the folder of a model. Downloads a model of the Hugging Face Hub first. Its name on the Hub is then the default name.
 *
 * @throws BertEdgeError the errors of `locateModel`
 */
export async function localModel({
  root,
  folder,
  name,
  onProgress,
}: Omit<PreparedOptions, "targets">): Promise<Pick<PreparedOptions, "folder" | "name">> {
  const { hubModel } = await import("../../storage/hub-model.ts");
  const hub = isInModels(root, folder) ? undefined : hubModel(folder);
  if (!hub) return { folder, name };
  const { locateModel } = await import("../../compile/stages/locate-model.ts");
  const { startRun } = await import("../../compile/stages/stage.ts");
  const { path } = await locateModel(startRun({ onProgress }, folder).run, folder, folder);
  return { folder: path, name: name ?? basename(hub.name) };
}

/** Whether a path lies directly in the project's folder of models, even if nothing exists at the path. */
const isInModels = (root: string, folder: string): boolean => dirname(resolve(root, folder)) === join(root, MODELS);

const isArtifact = (folder: string): boolean => existsSync(join(folder, MANIFEST_FILE));

/**
 * Checks that a folder has a model that can be served, without reading weights.
 *
 * @throws BertEdgeError `target_missing`, `setting_invalid`, `checkpoint_missing`, `package_missing`, and the errors of
 *   `openFolder` and `describeModel`
 */
export async function assertServable({
  root,
  folder,
  name,
  targets,
  acceptKeys = [],
}: Omit<PreparedOptions, "onProgress">) {
  if (isArtifact(folder)) {
    const { manifest } = await openFolder(folder);
    if (!manifest.targets.edge) {
      throw new BertEdgeError("target_missing", `${folder} has no target for the edge.`, {
        hint: "Prepare the model again, with --targets edge or without --targets.",
      });
    }
    if (name !== undefined && name !== manifest.name) {
      throw new BertEdgeError(
        "setting_invalid",
        `--name ${name} does not fit ${folder}: this artifact is named ${manifest.name}.`,
        {
          hint: "Leave --name out. Only a model folder can get another name.",
        },
      );
    }
    if (acceptKeys.length > 0) {
      throw new BertEdgeError("setting_invalid", `${folder} is an artifact, so --accept-key has no effect.`, {
        hint: "Leave --accept-key out. It is for model folders.",
      });
    }
    return;
  }
  if (!existsSync(folder) && isInModels(root, folder)) {
    throw modelMissing(root, folder, targets);
  }
  const { describeModel } = await import("../../compile/model/describe-model.ts");
  await describeModel(folder, { acceptKeys });
  packageFile(root, "onnxruntime-node", "package.json");
}

/** Lists the names of the folders in a folder; none if it does not exist. */
const foldersIn = (path: string): string[] =>
  existsSync(path)
    ? readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [] : [entry.name]))
    : [];

/** Names the models that the project has, and the command that makes the missing one. */
function modelMissing(root: string, folder: string, targets: readonly TargetName[]): BertEdgeError {
  const models = foldersIn(join(root, MODELS));
  const prepare = `npx bert-edge prepare <folder> --name ${basename(folder)} --targets ${targets} --out ${folder}`;
  const existing = models.length > 0 ? `${MODELS} has: ${models.join(", ")}. ` : "";
  return new BertEdgeError("checkpoint_missing", `${folder} does not exist.`, {
    hint: `${existing}To make it from a Hugging Face model folder:\n    ${prepare}`,
  });
}

/**
 * Returns the artifact in a folder, or prepares the model in it. Keeps prepared artifacts, and prepares a model again only if
 * the model, the options or the package have changed. Checks that the artifact's files are complete and undamaged.
 *
 * @throws BertEdgeError the errors of `prepare` and `openFolder`, `artifact_corrupt`
 */
export async function preparedArtifact(options: PreparedOptions): Promise<PublishableArtifact> {
  const { root, folder, onProgress, targets, acceptKeys = [] } = options;
  if (isArtifact(folder)) {
    return openIntact(
      folder,
      `Restore ${folder} from Git or another copy, or prepare it again. The model that came with a project is also in a new ` +
        "project: `npx create-bert-edge another-api --no-install`.",
    );
  }
  const { modelName } = await import("../../compile/stages/assemble-artifact.ts");
  const name = modelName(options.name, folder);
  const kept = resolve(root, CACHE, name);
  const out = join(kept, await keyOf(folder, targets, acceptKeys));
  if (!isArtifact(out)) {
    const prepare = options.prepare ?? (await import("../../compile/commands/prepare.ts")).prepare;
    const { stageCacheFolder } = await import("../../compile/stages/stage-cache.ts");
    // `force`, because a local workerd has no memory limit. `dev` only warns about a model that no Worker can run.
    const report = await prepare({
      model: folder,
      out,
      name,
      targets,
      acceptKeys,
      onProgress,
      cache: stageCacheFolder(),
      force: true,
    });
    for (const line of passedOver(report)) printNote(line);
    for (const entry of await readdir(kept)) {
      if (KEY.test(entry) && join(kept, entry) !== out) await rm(join(kept, entry), { recursive: true, force: true });
    }
  }
  return openIntact(out, `Remove ${relative(root, out)} and start again. The model is then prepared again.`);
}

/** Opens an artifact folder and checks its files. `publish` does not read files that the store has, so it would miss damage. */
async function openIntact(folder: string, hint: string): Promise<PublishableArtifact> {
  const artifact = await openFolder(folder);
  for (const file of Object.keys(artifact.manifest.files)) {
    await artifact.read(file).catch((cause: unknown) => {
      if (!(cause instanceof BertEdgeError)) throw cause;
      throw new BertEdgeError(cause.code, cause.message, { hint });
    });
  }
  return artifact;
}

/**
 * Returns the name of an artifact's folder: the hash of the code (`codeKey`), of the model's files and of the options. They determine
 * the artifact, so an artifact with this name is never out of date.
 */
async function keyOf(folder: string, ...options: readonly (readonly string[])[]): Promise<string> {
  const { contentKey, modelKey } = await import("../../compile/stages/content-key.ts");
  const { codeKey } = await import("../../compile/stages/code-key.ts");
  return contentKey("dev", await modelKey(folder), await codeKey(), ...options).slice(0, 16);
}

/**
 * Returns the folder of a project's only model. Projects that `create-bert-edge` makes come with one.
 *
 * @throws BertEdgeError `checkpoint_missing` when there is no model, or more than one
 */
export function projectModel(root: string): string {
  const [only, ...others] = foldersIn(join(root, MODELS)).map((name) => join(MODELS, name));
  if (only !== undefined && others.length === 0) return only;
  const found =
    only === undefined ? "has no models/ with a model" : `has several models: ${[only, ...others].join(", ")}`;
  throw new BertEdgeError("checkpoint_missing", `The folder ${root} ${found}.`, {
    hint: "Name the artifact's folder with --model. `bert-edge prepare` makes an artifact.",
  });
}
