import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { readJson } from "../../files/json-file.ts";
import { ARTIFACT_METADATA, artifactMetadataKeys } from "./artifact-metadata.ts";
import type { KeyTable, Treatment } from "./key-table.ts";
import {
  denseKeys,
  moduleEntryKeys,
  normalizeKeys,
  poolingKeys,
  sentenceTransformersKeys,
  spladePoolingKeys,
  transformerFiles,
  transformerKeys,
} from "./key-tables.ts";
import { configTable } from "./model-keys.ts";
import { SENTENCE_CONFIG } from "./sentence-config.ts";
import { configKeys, tokenizerKeys } from "./transformers-keys.ts";

/** A file of model folders, and what becomes of its keys. */
export interface Ledger {
  readonly file: string;
  /** The library that writes and reads the file. */
  readonly library: "transformers" | "sentence-transformers" | "ColBERT";
  readonly keys: KeyTable;
}

/** All files of model folders whose keys have a table. `docs/model-folders.md` is written from it. */
export const ledgers: readonly Ledger[] = [
  { file: "config.json", library: "transformers", keys: configKeys },
  { file: "tokenizer_config.json", library: "transformers", keys: tokenizerKeys },
  { file: "modules.json", library: "sentence-transformers", keys: moduleEntryKeys },
  { file: transformerFiles[0] as string, library: "sentence-transformers", keys: transformerKeys },
  { file: SENTENCE_CONFIG, library: "sentence-transformers", keys: sentenceTransformersKeys },
  { file: "*_Pooling/config.json", library: "sentence-transformers", keys: poolingKeys },
  { file: "*_Dense/config.json", library: "sentence-transformers", keys: denseKeys },
  { file: "*_Normalize/config.json", library: "sentence-transformers", keys: normalizeKeys("sentence_embedding") },
  { file: "*_SpladePooling/config.json", library: "sentence-transformers", keys: spladePoolingKeys },
  { file: ARTIFACT_METADATA, library: "ColBERT", keys: artifactMetadataKeys },
];

/** A key of a file in a model folder, and what becomes of it. */
export interface FoundKey {
  readonly file: string;
  readonly key: string;
  readonly treatment: "obeyed" | "no-effect" | "only" | "nested" | "unknown";
}

const AnyObject = v.looseObject({});

/**
 * Lists the keys that the files of a model folder have, and what becomes of each.
 *
 * @throws BertEdgeError `checkpoint_invalid`
 */
export async function foundKeys(folder: string): Promise<FoundKey[]> {
  const folders = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const found = await Promise.all(
    ledgers.flatMap(({ file, keys }) => {
      const [, kind] = /^\*_(\w+)\/config\.json$/.exec(file) ?? [];
      const places = kind
        ? folders.filter(({ name }) => name.replace(/^\d+_/, "") === kind).map(({ name }) => join(name, "config.json"))
        : [file];
      return places.map((place) => keysOf(folder, place, keys));
    }),
  );
  return found.flat();
}

async function keysOf(folder: string, file: string, known: KeyTable): Promise<FoundKey[]> {
  const content = await readJson(folder, file, v.union([v.array(AnyObject), AnyObject]));
  if (!content) return [];
  const keys = file === "config.json" ? configTable(content) : known;
  const names = new Set([content].flat().flatMap((each) => Object.keys(each)));
  return [...names].map((key) => ({
    ...{ file, key },
    treatment: Object.hasOwn(keys, key) ? (keys[key] as Treatment).is : "unknown",
  }));
}
