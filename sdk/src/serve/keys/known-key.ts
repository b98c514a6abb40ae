import { sha256Hex } from "../../artifact/sha256.ts";
import type { ApiKey, CallDefaults, KeyLimits } from "../call-defaults.ts";
import { readEntry } from "./entry.ts";
import { isEqual } from "./is-equal.ts";

/** An API key that a deployment accepts. */
export interface KnownKey extends CallDefaults, KeyLimits {
  /** Its name, for logs and limits. A key without a name is called by the first digits of its hash. */
  readonly name: string;
  /** SHA-256 of the key, in 64 hexadecimal digits. */
  readonly sha256: string;
  /** The key itself; undefined until a caller has sent it, if only its hash is configured. */
  plain: string | undefined;
}

/** Hexadecimal digits of a hash that name a key: two of a thousand keys share them with a probability of 1 : 8,000. */
const NAME_DIGITS = 8;

/** Prepares configured keys. Leaves out empty ones, because lists are often written with a final comma or newline. */
export async function knownKeys(keys: readonly ApiKey[]): Promise<KnownKey[]> {
  const known = keys.map(async (given): Promise<KnownKey | undefined> => {
    const { key, ...options } = typeof given === "string" ? { key: given } : given;
    const { name, plain, sha256 } = readEntry(key) ?? {};
    if (!plain && !sha256) return undefined;
    const hash = sha256 ?? (await hashOf(plain as string));
    return { ...options, name: options.name ?? name ?? `key-${hash.slice(0, NAME_DIGITS)}`, sha256: hash, plain };
  });
  return (await Promise.all(known)).filter((key) => key !== undefined);
}

/**
 * Finds the key that a caller has sent. Compares in a time that does not depend on how much of a key is right. A hash is computed
 * only for keys that were not sent before: it would take 8 % of the time of a busy edge, and makes a request wait for the event
 * loop.
 */
export async function findKey(known: readonly KnownKey[], sent: string): Promise<KnownKey | undefined> {
  const seen = known.map(({ plain }) => plain !== undefined && isEqual(plain, sent)).indexOf(true);
  if (seen >= 0) return known[seen];
  if (known.every(({ plain }) => plain !== undefined)) return undefined;
  const sentHash = await hashOf(sent);
  const found = known[known.map(({ sha256 }) => isEqual(sha256, sentHash)).indexOf(true)];
  if (found) found.plain = sent;
  return found;
}

const hashOf = (key: string): Promise<string> => sha256Hex(new TextEncoder().encode(key));
