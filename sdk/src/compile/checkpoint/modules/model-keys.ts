import { join } from "node:path";
import * as v from "valibot";
import { readJson } from "../../files/json-file.ts";
import { families } from "../families/index.ts";
import { ARTIFACT_METADATA, readArtifactMetadata } from "./artifact-metadata.ts";
import { assertValues, type KeyTable, obeyed, unknownKeys } from "./key-table.ts";
import { schemaKeys } from "./schema-keys.ts";
import { readSentenceConfig, SENTENCE_CONFIG } from "./sentence-config.ts";
import { configKeys, tokenizerKeys } from "./transformers-keys.ts";

const AnyObject = v.looseObject({});

/** Keys of a file that no table has. */
export interface UnknownKeys {
  readonly file: string;
  readonly keys: readonly string[];
}

/**
 * Returns the table of a config.json: the keys of all families, and those that its own family reads.
 *
 * @param config content of config.json
 */
export function configTable(config: object): KeyTable {
  const { model_type: type } = config as { readonly model_type?: unknown };
  const family = typeof type === "string" && Object.hasOwn(families, type) ? families[type] : undefined;
  if (!family) return configKeys;
  const heads = Object.values(family.heads).filter((head) => head !== undefined);
  const own = [family.config, ...heads].flatMap((schema) => schemaKeys(schema, config));
  return {
    ...configKeys,
    ...Object.fromEntries(own.map((key) => [key, configKeys[key]?.is === "only" ? configKeys[key] : obeyed])),
  };
}

/**
 * Refuses config.json and tokenizer_config.json if they have a value that is not what we compute.
 *
 * @returns the keys that no table has
 * @throws BertEdgeError `checkpoint_invalid`, `checkpoint_unsupported`
 */
export async function unknownModelKeys(folder: string): Promise<UnknownKeys[]> {
  const read = async (file: string, tableOf: (content: object) => KeyTable) => {
    const content = (await readJson(folder, file, AnyObject)) ?? {};
    const table = tableOf(content);
    assertValues(join(folder, file), content, table);
    return { file, keys: unknownKeys(content, table) };
  };
  const found = [
    await read("config.json", configTable),
    await read("tokenizer_config.json", () => tokenizerKeys),
    { file: SENTENCE_CONFIG, keys: (await readSentenceConfig(folder)).unknown },
    { file: ARTIFACT_METADATA, keys: (await readArtifactMetadata(folder))?.unknown ?? [] },
  ];
  return found.filter(({ keys }) => keys.length > 0);
}
