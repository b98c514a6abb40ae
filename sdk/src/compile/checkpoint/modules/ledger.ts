import { join } from "node:path/posix";
import * as v from "valibot";
import { readJson } from "../../files/json-file.ts";
import { SPECIAL_TOKENS } from "../model-folder.ts";
import { listedModules, MODULES, transformerPath } from "../model-place.ts";
import { ARTIFACT_METADATA, artifactMetadataKeys } from "./artifact-metadata.ts";
import { type FoundKey, findKeys, type KeyTable } from "./key-table.ts";
import {
  denseKeys,
  dropoutKeys,
  moduleEntryKeys,
  normalizeKeys,
  poolingKeys,
  sentenceTransformersKeys,
  spladePoolingKeys,
  transformerFiles,
  transformerKeys,
} from "./key-tables.ts";
import { SENTENCE_CONFIG } from "./sentence-config.ts";
import { findTransformerConfig } from "./transformer-config.ts";
import { configKeys, configTable, specialTokensKeys, tokenizerKeys } from "./transformers-keys.ts";

/** Tables of the modules that have a config.json of their own, by the kind of module. */
const moduleTables: Readonly<Record<string, KeyTable>> = {
  Pooling: poolingKeys,
  Dense: denseKeys,
  Normalize: normalizeKeys("sentence_embedding"),
  SpladePooling: spladePoolingKeys,
  Dropout: dropoutKeys,
};

/** A file of model folders, and what becomes of its keys. */
export interface Ledger {
  readonly file: string;
  /** The library that writes and reads the file. */
  readonly library: "transformers" | "sentence-transformers" | "ColBERT";
  readonly keys: KeyTable;
}

/** All files of model folders whose keys have a table. `docs/model-folders.md` is generated from this list. */
export const ledgers: readonly Ledger[] = [
  { file: "config.json", library: "transformers", keys: configKeys },
  { file: "tokenizer_config.json", library: "transformers", keys: tokenizerKeys },
  { file: SPECIAL_TOKENS, library: "transformers", keys: specialTokensKeys },
  { file: MODULES, library: "sentence-transformers", keys: moduleEntryKeys },
  { file: transformerFiles[0] as string, library: "sentence-transformers", keys: transformerKeys },
  { file: SENTENCE_CONFIG, library: "sentence-transformers", keys: sentenceTransformersKeys },
  ...Object.entries(moduleTables).map(
    ([kind, keys]) => ({ file: `*_${kind}/config.json`, library: "sentence-transformers", keys }) as const,
  ),
  { file: ARTIFACT_METADATA, library: "ColBERT", keys: artifactMetadataKeys },
];

/** A file of a model folder, and what becomes of its keys. */
export interface FileKeys {
  /** Path from the model folder. */
  readonly file: string;
  /**
   * Name of the module that the file configures: the module's path, or its kind if it is in the model folder itself. For
   * modules.json, the name of the file. Undefined for all other files, whose unknown keys are not refused.
   */
  readonly module: string | undefined;
  readonly keys: readonly FoundKey[];
  /** Number of keys of each treatment. */
  readonly counts: Readonly<Record<FoundKey["treatment"], number>>;
}

/** A file of a model folder that has a key table. `tableOf` returns the table for the content of the file. */
interface KnownFile extends Pick<FileKeys, "file"> {
  readonly module?: string;
  readonly tableOf: (content: object) => KeyTable;
}

const AnyObject = v.looseObject({});
const Content = v.union([v.array(AnyObject), AnyObject]);

/**
 * Lists the keys of a model folder's files, and what becomes of each.
 *
 * @param root folder with modules.json, if the model has one
 * @throws BertEdgeError `checkpoint_invalid`
 */
export async function folderKeys(root: string): Promise<FileKeys[]> {
  const found: FileKeys[] = [];
  for (const { file, module, tableOf } of await knownFiles(root)) {
    const content = await readJson(root, file, Content);
    if (!content) continue;
    // modules.json is a list of entries with the same keys. Each key is listed once.
    const all = [content].flat().flatMap((each) => findKeys(each, tableOf(each)));
    const keys = [...new Map(all.map((each) => [each.key, each])).values()];
    const count = (wanted: FoundKey["treatment"]) => keys.filter(({ treatment }) => treatment === wanted).length;
    const counts = {
      ...{ obeyed: count("obeyed"), "no-effect": count("no-effect") },
      ...{ refused: count("refused"), unknown: count("unknown") },
    };
    found.push({ file, module, keys, counts });
  }
  return found;
}

async function knownFiles(root: string): Promise<KnownFile[]> {
  const modules = listedModules(root);
  const transformer = transformerPath(modules);
  const sentence = await findTransformerConfig(root, transformer);
  const tables = modules.some(({ kind }) => kind === "Dense")
    ? { ...moduleTables, Normalize: normalizeKeys("token_embeddings") }
    : moduleTables;
  const configs = modules.flatMap(({ kind, path }) => {
    const table = Object.hasOwn(tables, kind) ? tables[kind] : undefined;
    // A Normalize module in the encoder's folder has no file of its own: config.json is the encoder's there.
    const isEncoders = kind === "Normalize" && path === transformer;
    return table && !isEncoders
      ? [{ file: join(path, "config.json"), module: path || kind, tableOf: () => table }]
      : [];
  });
  return [
    { file: join(transformer, "config.json"), tableOf: configTable },
    { file: join(transformer, "tokenizer_config.json"), tableOf: () => tokenizerKeys },
    { file: join(transformer, SPECIAL_TOKENS), tableOf: () => specialTokensKeys },
    { file: MODULES, module: MODULES, tableOf: () => moduleEntryKeys },
    ...(sentence ? [{ ...sentence, module: transformer || "Transformer", tableOf: () => transformerKeys }] : []),
    { file: SENTENCE_CONFIG, tableOf: () => sentenceTransformersKeys },
    ...configs,
    { file: ARTIFACT_METADATA, tableOf: () => artifactMetadataKeys },
  ];
}
