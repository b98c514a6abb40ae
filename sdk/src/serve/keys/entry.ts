import { BertEdgeError } from "../../artifact/error.ts";

/** Names of keys. */
export const KEY_NAME = /^[\w.-]{1,64}$/;

/**
 * Plain keys: visible ASCII without what JSON, HTML and XML consist of. A list in another format, or an error page, would otherwise
 * give keys that anybody can guess, such as `{` or `</html>`.
 */
const PLAIN = /^(?!#)(?:(?![{}[\]<>",])[!-~])*$/;

/** A key as it is configured: as it is, or as the hash of one. */
export interface KeyEntry {
  readonly name?: string | undefined;
  /** The key itself; undefined if only its hash is known. */
  readonly plain?: string | undefined;
  /** SHA-256 of the key, in 64 hexadecimal digits; undefined if the key itself is given. */
  readonly sha256?: string | undefined;
}

/**
 * Reads an entry of a list of keys: a key, `sha256:<hex>` or `<name>:sha256:<hex>`. Returns undefined if an entry has a hash
 * that is not valid.
 *
 * @throws BertEdgeError `setting_invalid` if a plain key has characters that no key has
 */
export function readEntry(text: string): KeyEntry | undefined {
  const entry = text.trim();
  const [, name, sha256] = /^(?:(.+):)?sha256:([0-9a-f]{64})$/i.exec(entry) ?? [];
  if (sha256 && (name === undefined || KEY_NAME.test(name))) return { name, sha256: sha256.toLowerCase() };
  if (/sha256:/i.test(entry)) return undefined;
  if (PLAIN.test(entry)) return { plain: entry };
  throw new BertEdgeError("setting_invalid", "The list of API keys has an entry that is not a key.", {
    hint: 'Write keys apart from each other by commas or newlines, without comments, spaces and any of {}[]<>", or a JSON array.',
  });
}
