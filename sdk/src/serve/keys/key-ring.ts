import { BertEdgeError } from "../../artifact/error.ts";
import { sha256Hex } from "../../artifact/sha256.ts";
import { withDeadline } from "../../artifact/with-deadline.ts";
import type { Background } from "../../runtime/background.ts";
import { type ApiKey, type KeyLimits, type KnownKey, limitNames } from "../call-defaults.ts";
import { readEntry } from "./key-list.ts";
import { type BeginRequest, keyLimits } from "./spending.ts";

/** Age at which keys are read again, in the background of a request, in ms. */
const REFRESH_MS = 45_000;
/** Age at which a request waits for new keys, in ms. Unless reading fails, a revoked key is accepted for a minute at most. */
const EXPIRED_MS = 60_000;
/** Time limit for reading keys, in ms. */
const READ_MS = 5_000;
/** Pause between two attempts to read keys, in ms. */
const RETRY_MS = 5_000;

export type ReadKeys<Env> = (env: Env) => readonly ApiKey[] | Promise<readonly ApiKey[]>;

/** Returns the keys that are valid now. */
export type CurrentKeys<Env> = (env: Env, background: Background) => Promise<readonly KnownKey[]>;

/** The keys that may call a deployment, and what they have spent. Requests and jobs share them. */
export interface Callers<Env> {
  readonly current: CurrentKeys<Env>;
  readonly begin: BeginRequest;
}

export const callersOf = <Env>(read: ReadKeys<Env>): Callers<Env> => ({ current: keyRing(read), begin: keyLimits() });

/** Keeps the keys that `read` gives, and reads them again every minute. If this fails, the earlier keys stay valid. */
export function keyRing<Env>(read: ReadKeys<Env>, now: () => number = Date.now): CurrentKeys<Env> {
  let held: { keys: readonly KnownKey[]; readAt: number } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  async function readAgain(env: Env): Promise<readonly KnownKey[]> {
    const readAt = now();
    triedAt = readAt;
    const given = Promise.resolve(read(env));
    const keys = await knownKeys(await withDeadline(given, READ_MS, late));
    // Keeps the plain text of keys that callers have sent, so that these keys need no hash.
    const plain = new Map(held?.keys.map((key) => [key.sha256, key.plain]));
    for (const key of keys) key.plain ??= plain.get(key.sha256);
    held = { keys, readAt };
    return keys;
  }

  /** Reads the keys again within the current request: in Workers, a request cannot wait for the I/O of another one. */
  const readOrKeep = (env: Env, keys: readonly KnownKey[]) =>
    readAgain(env).catch((error: unknown) => {
      console.error("bert-edge: The API keys cannot be read again. The earlier ones stay valid.", error);
      return keys;
    });

  return async function currentKeys(env, background) {
    if (!held) return readAgain(env);
    const { keys, readAt } = held;
    const age = now() - readAt;
    if (age < REFRESH_MS || now() - triedAt < RETRY_MS) return keys;
    if (age >= EXPIRED_MS) return readOrKeep(env, keys);
    background(readOrKeep(env, keys));
    return keys;
  };
}

const late = () =>
  new BertEdgeError("storage_unavailable", `The API keys could not be read within ${READ_MS} ms.`, {
    hint: "Check the store that the option `keys` reads.",
  });

/** Number of hexadecimal digits of a hash that name a key: two of a thousand keys share them with a probability of 1 : 8,000. */
const NAME_DIGITS = 8;

/** Prepares configured keys. Leaves out empty ones, because lists are often written with a final comma or newline. */
export async function knownKeys(keys: readonly ApiKey[]): Promise<KnownKey[]> {
  const known = keys.map(async (given): Promise<KnownKey | undefined> => {
    const { key, ...options } = typeof given === "string" ? { key: given } : given;
    const { name, plain, sha256 } = readEntry(key) ?? {};
    if (!plain && !sha256) return undefined;
    const hash = sha256 ?? (await hashOf(plain as string));
    return {
      ...options,
      name: options.name ?? name ?? `key-${hash.slice(0, NAME_DIGITS)}`,
      sha256: hash,
      plain,
      isAlone: false,
    };
  });
  const all = (await Promise.all(known)).filter((key) => key !== undefined);
  const callers = [...Map.groupBy(all, ({ name }) => name).values()];
  return callers.flatMap((sharing) => {
    const shared = { ...strictest(sharing), isAlone: callers.length === 1 };
    return sharing.map((key) => ({ ...key, ...shared }));
  });
}

/** Returns the strictest limits of keys with the same name, which all of them get, and which jobs these keys see. */
function strictest(keys: readonly KnownKey[]): KeyLimits & Pick<KnownKey, "jobs"> {
  const shared = limitNames.flatMap((limit) => {
    const given = keys.map((key) => key[limit]).filter((value) => value !== undefined);
    return given.length > 0 ? [[limit, Math.min(...given)]] : [];
  });
  return { ...Object.fromEntries(shared), jobs: keys.every(({ jobs }) => jobs === "all") ? "all" : "own" };
}

/**
 * Finds the key that a caller has sent, in a time that does not depend on how much of it is right. Only keys that nobody has sent
 * before need a hash. A hash for every request would take 8 % of a busy edge's time, and make the request wait for the event loop.
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

/** Compares a secret with the text `sent` by a caller, in a time that depends only on the length of `sent`. */
export function isEqual(secret: string, sent: string): boolean {
  let difference = secret.length ^ sent.length;
  // Beyond the end of the secret, the code is NaN, which counts as 0.
  for (let i = 0; i < sent.length; i++) difference |= secret.charCodeAt(i) ^ sent.charCodeAt(i);
  return difference === 0;
}
