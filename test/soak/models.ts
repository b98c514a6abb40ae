import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import type { Head } from "#sdk/compile/checkpoint/task-head.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { HEAD_VOCABULARY, writePreparableClassifier, writePreparableHead } from "../fixtures/classifier-case.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { byteLevelJson, unigramJson } from "../fixtures/tokenizer-kinds.ts";
import { withManifest } from "../fixtures/with-manifest.ts";

/** Sentence encoders: the default model has a WordPiece tokenizer, and each of the others another kind. */
export const EMBED_MODELS = ["bert-edge-mini", "tiny-byte-level", "tiny-unigram"] as const;
/** Models of other tasks, each with another kind of tokenizer. */
export const PAIR_MODEL = "tiny-pairs";
export const TAG_MODEL = "tiny-tags";
export const ANSWER_MODEL = "tiny-answers";

/** Sentence encoders of a deployment, and whether it has the models of other tasks too. */
export interface SoakModels {
  /** Those that get most requests. The first is the default model of the deployment, of which new versions are published. */
  readonly main: readonly [string, ...string[]];
  /** Those that compute a token fast. */
  readonly small: readonly string[];
  readonly hasTasks: boolean;
}

const [MINI, ...SMALL] = EMBED_MODELS;
/** The models of a run without `--model`. */
export const usualModels: SoakModels = { main: [MINI], small: SMALL, hasTasks: true };

/** Writes the checkpoint of each small model. */
const checkpoints: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  "tiny-byte-level": (folder) => writeEncoder(folder, byteLevelJson()),
  "tiny-unigram": (folder) => writeEncoder(folder, unigramJson()),
  [PAIR_MODEL]: (folder) => writePreparableClassifier(folder, ["LABEL_0"]),
  [TAG_MODEL]: (folder) => writeHead(folder, "token-classification", byteLevelJson()),
  [ANSWER_MODEL]: (folder) => writeHead(folder, "question-answering", unigramJson()),
};

interface TokenizerJson {
  readonly model: { readonly vocab: object };
}

async function writeEncoder(folder: string, json: TokenizerJson): Promise<void> {
  const files = { "tokenizer.json": JSON.stringify(json) };
  await writePreparableCheckpoint(folder, { config: { vocab_size: Object.keys(json.model.vocab).length + 8 }, files });
}

async function writeHead(folder: string, head: Head, json: TokenizerJson): Promise<void> {
  if (Object.keys(json.model.vocab).length > HEAD_VOCABULARY) throw new Error("The vocabulary is too large.");
  await writePreparableHead(folder, head);
  await writeFile(join(folder, "tokenizer.json"), JSON.stringify(json));
  // The folder of the head names BERT's class.
  await writeFile(
    join(folder, "tokenizer_config.json"),
    JSON.stringify({ tokenizer_class: "PreTrainedTokenizerFast" }),
  );
}

/** Prepares the small models, and opens all. `mini` is the folder of the prepared default model. */
export async function openModels(folder: string, mini: string): Promise<PublishableArtifact[]> {
  const artifacts = [await openFolder(mini)];
  for (const [name, write] of Object.entries(checkpoints)) {
    const [checkpoint, out] = [join(folder, `${name}-checkpoint`), join(folder, name)];
    await mkdir(checkpoint);
    await write(checkpoint);
    await prepare({ model: checkpoint, out, name, targets: ["edge", "regional-cpu"], timingRounds: 1 });
    artifacts.push(await openFolder(out));
  }
  return artifacts;
}

/**
 * Opens artifacts of sentence encoders.
 *
 * @param refuse ends the process: an artifact is for another task, or lacks a target
 */
export async function openGiven(
  folders: readonly [string, ...string[]],
  refuse: (what: string) => never,
): Promise<{ readonly artifacts: PublishableArtifact[]; readonly models: SoakModels }> {
  const artifacts = await Promise.all(folders.map(openFolder));
  for (const { manifest } of artifacts) {
    const { name, task, targets } = manifest;
    if (task !== "embed") refuse(`${name} is for the task ${task}. Give artifacts of sentence encoders.`);
    if (!targets.edge || !targets["regional-cpu"])
      refuse(`${name} lacks a target. Prepare it with --targets edge,regional-cpu.`);
  }
  const names = artifacts.map(({ manifest }) => manifest.name) as [string, ...string[]];
  if (new Set(names).size < names.length) refuse(`${names.join(", ")}: each model needs a name of its own.`);
  return { artifacts, models: { main: names, small: [], hasTasks: false } };
}

/** Makes another version of an artifact, which computes the same vectors: its manifest has another prompt that nobody asks for. */
export const nextVersion = (artifact: PublishableArtifact, number: number): Promise<PublishableArtifact> =>
  withManifest(artifact, { prompts: { soak: `${number}: ` } });
