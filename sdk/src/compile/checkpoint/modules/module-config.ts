import { join } from "node:path";
import type * as v from "valibot";
import { readJson } from "../../files/json-file.ts";
import { assertKnownKeys, type KeyTable } from "./key-table.ts";
import type { Module } from "./module-list.ts";

/**
 * Reads the config.json of a module.
 *
 * @returns undefined if there is no such file
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for keys and values that `keys` does not allow
 */
export async function readModuleConfig<S extends v.GenericSchema<unknown, object>>(
  folder: string,
  { path }: Module,
  schema: S,
  keys: KeyTable,
): Promise<v.InferOutput<S> | undefined> {
  const file = join(path, "config.json");
  const config = await readJson(folder, file, schema);
  if (config) assertKnownKeys(join(folder, file), config, keys);
  return config;
}
