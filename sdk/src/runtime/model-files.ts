import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { type ManifestFile, PREPARE_AGAIN, type Target, type TargetName } from "../artifact/manifest.ts";
import type { Engine, ModelFiles } from "./engine/engine.ts";

/**
 * Returns an artifact's model files for one engine.
 *
 * The returned methods throw BertEdgeError `target_missing` when the artifact does not have the target, and
 * `engine_mismatch` when the target is for another engine.
 */
export function modelFilesOf(artifact: Artifact, engine: Engine["name"]): ModelFiles {
  const { name: model, targets, files } = artifact.manifest;
  const targetOf = (name: TargetName): Target => {
    const target = targets[name];
    if (!target) {
      throw new BertEdgeError("target_missing", `The model ${model} was prepared without the target ${name}.`, {
        hint: `Prepare the model again, and add ${name} to --targets.`,
      });
    }
    if (target.engine === engine) return target;
    throw new BertEdgeError(
      "engine_mismatch",
      `The target ${name} of ${model} is for the engine ${target.engine}, but ${engine} is in use.`,
      {
        hint: `Use the engine from bert-edge/engine/${target.engine}. In a deployment, the files in functions/ choose the engine.`,
      },
    );
  };
  const sizeOf = (file: string) => (files[file] as ManifestFile).size;

  /** Reads bytes of files that are one after the other. */
  async function readAcross(names: readonly string[], begin: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    if (begin === end) return new Uint8Array();
    const [file, ...others] = names;
    if (file === undefined) throw noPages(model);
    const size = sizeOf(file);
    if (begin >= size) return readAcross(others, begin - size, end - size);
    if (end <= size) return artifact.readPart(file, begin, end);
    // At the same time, so that a page on the border of two files takes one round trip.
    const both = [artifact.readPart(file, begin, size), readAcross(others, 0, end - size)] as const;
    const [part, rest] = await Promise.all(both);
    const whole = new Uint8Array(end - begin);
    whole.set(part);
    whole.set(rest, part.length);
    return whole;
  }

  return {
    size: (name) => sizeOf(targetOf(name).model),
    read: async (name) => artifact.read(targetOf(name).model),
    readInto: async (name, destination) => artifact.readInto(targetOf(name).model, destination),
    pagesSize: (name) => (targetOf(name).pages ?? []).reduce((sum, file) => sum + sizeOf(file), 0),
    readPages: async (name, begin, end) => readAcross(targetOf(name).pages ?? [], begin, end),
  };
}

const noPages = (model: string): BertEdgeError =>
  new BertEdgeError("model_invalid", `The manifest of ${model} lists too few pages of the token embedding table.`, {
    hint: PREPARE_AGAIN,
  });
