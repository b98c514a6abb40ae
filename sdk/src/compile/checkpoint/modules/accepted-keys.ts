import { join } from "node:path";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { FileKeys } from "./ledger.ts";

/** Keys of a file that are not in the file's key table. */
export interface UnknownKeys {
  readonly file: string;
  readonly keys: readonly string[];
}

/**
 * Returns the name of a key, as `--accept-key` takes it: `1_Pooling.mood`. The name has the path of the module, not its kind, so
 * it belongs to one file even if a model has two Dense modules.
 */
export const keyName = ({ module, file }: Pick<FileKeys, "module" | "file">, key: string): string =>
  `${module ?? file}.${key}`;

const unknownOf = ({ keys }: FileKeys): string[] =>
  keys.filter(({ treatment }) => treatment === "unknown").map(({ key }) => key);

/** Returns the names of the keys that `--accept-key` takes. */
export const acceptableKeys = (files: readonly FileKeys[]): string[] =>
  files.flatMap((file) => (file.module === undefined ? [] : unknownOf(file).map((key) => keyName(file, key))));

/**
 * Refuses a model folder whose files have a value that bert-edge does not support, or an unknown key in a module's
 * configuration.
 *
 * @param root the model folder, for error messages
 * @param files the keys of its files
 * @param accepted names of unknown keys that the caller takes responsibility for
 * @returns the unknown keys of files that are no module's configuration
 * @throws BertEdgeError `checkpoint_unsupported`; `accepted_key_invalid` if an accepted key is known, or is in none of the files
 */
export function assertKeys(root: string, files: readonly FileKeys[], accepted: readonly string[] = []): UnknownKeys[] {
  const acceptable = acceptableKeys(files);
  for (const name of accepted) if (!acceptable.includes(name)) throw notAcceptable(root, files, name);
  for (const { file, keys } of files) {
    const refused = keys.find(({ refusal }) => refusal);
    if (refused?.refusal) {
      const { why, hint } = refused.refusal;
      throw new BertEdgeError("checkpoint_unsupported", `${join(root, file)}: ${why}.`, { hint });
    }
  }
  const left = acceptable.filter((name) => !accepted.includes(name));
  for (const file of files) {
    const keys = unknownOf(file).filter((key) => left.includes(keyName(file, key)));
    if (keys.length > 0) throw unknownKeys(join(root, file.file), keys, left);
  }
  return files
    .filter(({ module }) => module === undefined)
    .map((file) => ({ file: file.file, keys: unknownOf(file) }))
    .filter(({ keys }) => keys.length > 0);
}

/** @param names names of all unknown keys of the folder that are not accepted */
function unknownKeys(file: string, keys: readonly string[], names: readonly string[]): BertEdgeError {
  const listed = keys.map((key) => JSON.stringify(key)).join(", ");
  const has = keys.length === 1 ? `has the key ${listed}, which is` : `has the keys ${listed}, which are`;
  return new BertEdgeError("checkpoint_unsupported", `${file} ${has} not known.`, {
    hint: `A key can change the model's results. The page "Keys of model folders" lists all known keys. If you are sure that results do not depend on it, remove it, or add \`${acceptOptions(names)}\` to the command.`,
  });
}

/** Writes the options that accept keys, as a shell reads them. */
const acceptOptions = (names: readonly string[]): string =>
  names.map((name) => `--accept-key ${/^[\w./-]+$/.test(name) ? name : quoted(name)}`).join(" ");

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function notAcceptable(root: string, files: readonly FileKeys[], name: string): BertEdgeError {
  const said = files.flatMap((file) =>
    file.keys.filter(({ key }) => keyName(file, key) === name).map((key) => ({ ...key, ...file })),
  )[0];
  const possible = acceptableKeys(files);
  const leave = possible.length === 0 ? "Leave the option out." : `Keys to accept: \`${acceptOptions(possible)}\`.`;
  if (!said) {
    const hint = `${leave} A key's name is the folder of its module, a dot and the key: 1_Pooling.some_key.`;
    return invalid(`--accept-key ${name}: the files in ${root} have no such key.`, hint);
  }
  if (said.treatment === "unknown") {
    return invalid(
      `--accept-key ${name}: unknown keys of ${said.file} are not refused, only named in the report.`,
      leave,
    );
  }
  if (said.refusal) {
    return invalid(
      `--accept-key ${name} accepts only unknown keys, and this key is known: ${said.refusal.why}.`,
      said.refusal.hint,
    );
  }
  const becomes = said.treatment === "obeyed" ? "is obeyed" : "has no effect on results";
  return invalid(`--accept-key ${name}: this key is known, and ${becomes}.`, leave);
}

const invalid = (message: string, hint: string): BertEdgeError =>
  new BertEdgeError("accepted_key_invalid", message, { hint });
