import { join } from "node:path";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import type { TaskName } from "#sdk/artifact/manifest.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { writePreparableClassifier, writePreparableHead } from "../fixtures/classifier-case.ts";
import { KEY, servedEdge, servedRegion } from "../fixtures/served-tiers.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";

/** Name of the model of sentence vectors, which is the default. */
export const DEFAULT_MODEL = "bert-edge-mini";

interface ClientModel {
  /** Writes a checkpoint. */
  readonly write: (folder: string) => Promise<void>;
  /** Default: the first task that the checkpoint can do. */
  readonly task?: TaskName;
  /** Kind of a classifier's inputs. Default: as its folder says. */
  readonly input?: "text" | "pair";
}

/** Files of a model whose vectors have any length, with prompts for searches. */
const promptedFiles = {
  "modules.json": JSON.stringify(
    [
      ["", "Transformer"],
      ["1_Pooling", "Pooling"],
    ].map(([path, type], idx) => ({ idx, name: `${idx}`, path, type: `sentence_transformers.models.${type}` })),
  ),
  "1_Pooling/config.json": JSON.stringify({ word_embedding_dimension: 16, pooling_mode_mean_tokens: true }),
  "config_sentence_transformers.json": JSON.stringify({ prompts: { query: "query: ", document: "passage: " } }),
};

/** Models that both tiers serve. */
const models: Readonly<Record<string, ClientModel>> = {
  [DEFAULT_MODEL]: { write: (folder) => writePreparableCheckpoint(folder) },
  prompted: { write: (folder) => writePreparableCheckpoint(folder, { files: promptedFiles }) },
  topics: { write: (folder) => writePreparableClassifier(folder, ["no", "maybe", "yes"]) },
  pairs: { write: (folder) => writePreparableClassifier(folder, ["score"]), input: "pair" },
  people: { write: (folder) => writePreparableHead(folder, "token-classification") },
  facts: { write: (folder) => writePreparableHead(folder, "question-answering") },
  words: { write: (folder) => writePreparableHead(folder, "masked-lm"), task: "fill-mask" },
};

/**
 * Prepares tiny models of several tasks, serves them at the edge and in the region, and calls `use` for one tier after the
 * other.
 *
 * @param folder where the models are written
 * @param names of the models. Default: all
 */
export async function onBothTiers(
  folder: string,
  use: (url: string, key: string) => Promise<void>,
  names = Object.keys(models),
): Promise<void> {
  const artifacts: PublishableArtifact[] = [];
  for (const name of names) {
    const { write, task, input } = models[name] as ClientModel;
    const [checkpoint, out] = [join(folder, name), join(folder, `${name}-artifact`)];
    await write(checkpoint);
    await prepare({ model: checkpoint, out, name, task, input, targets: ["edge", "regional-cpu"] });
    artifacts.push(await openFolder(out));
  }
  for (const [tier, start] of [
    ["edge", servedEdge],
    ["region", servedRegion],
  ] as const) {
    console.log(tier);
    const { url, stop } = await start(artifacts);
    try {
      await use(url, KEY);
    } finally {
      await stop();
    }
  }
}
