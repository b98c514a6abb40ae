import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { versionOf } from "#sdk/artifact/keys.ts";
import { sha256Hex } from "#sdk/artifact/sha256.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { byteLevelJson, unigramJson } from "../fixtures/tokenizer-kinds.ts";

/** The models of the deployment: the default one has a WordPiece tokenizer, and each of the others another kind. */
export const MODELS = ["bert-edge-mini", "tiny-byte-level", "tiny-unigram"] as const;

/** Prepares the small models, and opens all. `mini` is the folder of the prepared default model. */
export async function openModels(folder: string, mini: string): Promise<PublishableArtifact[]> {
  const tokenizers = {
    "tiny-byte-level": byteLevelJson(),
    "tiny-unigram": unigramJson(),
  };
  const artifacts = [await openFolder(mini)];
  for (const [name, json] of Object.entries(tokenizers)) {
    const [checkpoint, out] = [join(folder, `${name}-checkpoint`), join(folder, name)];
    await mkdir(checkpoint);
    const vocabulary = Array.isArray(json.model.vocab) ? json.model.vocab.length : Object.keys(json.model.vocab).length;
    const files = { "tokenizer.json": JSON.stringify(json) };
    await writePreparableCheckpoint(checkpoint, { config: { vocab_size: vocabulary + 8 }, files });
    await prepare({ model: checkpoint, out, name, targets: ["edge", "regional-cpu"] });
    artifacts.push(await openFolder(out));
  }
  return artifacts;
}

/** Makes another version of an artifact, which computes the same vectors: its manifest has another prompt that nobody asks for. */
export async function nextVersion(artifact: PublishableArtifact, number: number): Promise<PublishableArtifact> {
  const manifest = { ...artifact.manifest, prompts: { soak: `${number}: ` } } as PublishableArtifact["manifest"];
  const manifestBytes = new TextEncoder().encode(JSON.stringify(manifest));
  return { ...artifact, manifest, manifestBytes, version: versionOf(await sha256Hex(manifestBytes)) };
}
