import { families } from "../families/index.ts";
import { type KeyTable, obeyed } from "./key-table.ts";
import { schemaKeys } from "./schema-keys.ts";
import { configKeys } from "./transformers-keys.ts";

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
