import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import type { ManifestFile, TargetName } from "../artifact/manifest.ts";
import type { Engine, ModelFiles } from "./engine/engine.ts";

/**
 * Returns an artifact's model files for one engine.
 *
 * The returned methods throw BertEdgeError `target_missing` when the artifact does not have the target, and
 * `engine_mismatch` when the target is for another engine.
 */
export function modelFilesOf(artifact: Artifact, engine: Engine["name"]): ModelFiles {
  const { name: model, targets, files } = artifact.manifest;
  const fileOf = (name: TargetName): string => {
    const target = targets[name];
    if (!target) {
      throw new BertEdgeError("target_missing", `The model ${model} was prepared without the target ${name}.`, {
        hint: `Prepare the model again, and add ${name} to --targets.`,
      });
    }
    if (target.engine === engine) return target.model;
    throw new BertEdgeError(
      "engine_mismatch",
      `The target ${name} of ${model} is for the engine ${target.engine}, but ${engine} is in use.`,
      {
        hint: `Use the engine from bert-edge/engine/${target.engine}. In a deployment, the files in functions/ choose the engine.`,
      },
    );
  };
  return {
    size: (name) => (files[fileOf(name)] as ManifestFile).size,
    read: async (name) => artifact.read(fileOf(name)),
    readInto: async (name, destination) => artifact.readInto(fileOf(name), destination),
  };
}
