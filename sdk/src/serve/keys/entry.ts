/** Names of keys. */
export const KEY_NAME = /^[\w.-]{1,64}$/;

/** A key as it is configured: as it is, or as the hash of one. */
export interface KeyEntry {
  readonly name?: string | undefined;
  /** The key itself; undefined if only its hash is known. */
  readonly plain?: string | undefined;
  /** SHA-256 of the key, in 64 hexadecimal digits; undefined if the key itself is given. */
  readonly sha256?: string | undefined;
}

/**
 * Reads an entry of a list of keys: a key, `sha256:<hex>` or `<name>:sha256:<hex>`. Returns undefined if an entry that begins like
 * a hash is not one.
 */
export function readEntry(text: string): KeyEntry | undefined {
  const entry = text.trim();
  const [, name, sha256] = /^(?:(.+):)?sha256:([0-9a-f]{64})$/i.exec(entry) ?? [];
  if (sha256 && (name === undefined || KEY_NAME.test(name))) return { name, sha256: sha256.toLowerCase() };
  return /(^|:)sha256:/i.test(entry) ? undefined : { plain: entry };
}
