import { BertEdgeError } from "../../artifact/error.ts";
import { withDeadline } from "../../artifact/with-deadline.ts";
import type { Background } from "../background.ts";
import type { ApiKey } from "../call-defaults.ts";
import { type KnownKey, knownKeys } from "./known-key.ts";

/** Age at which keys are read again, in the background of a request, in ms. */
const REFRESH_MS = 45_000;
/** Age at which a request waits for new keys, in ms: a revoked key is accepted for a minute at most. */
const EXPIRED_MS = 60_000;
/** Time limit for reading keys, in ms. */
const READ_MS = 5_000;
/** Pause between two tries to read keys, in ms. */
const RETRY_MS = 5_000;

export type ReadKeys<Env> = (env: Env) => readonly ApiKey[] | Promise<readonly ApiKey[]>;

/**
 * Keeps the keys that `read` gives, and reads them again every minute, so that keys change without a restart. If this fails, the
 * error is logged and the earlier keys stay valid.
 */
export function keyRing<Env>(
  read: ReadKeys<Env>,
  now: () => number = Date.now,
): (env: Env, background: Background) => Promise<readonly KnownKey[]> {
  let held: { keys: readonly KnownKey[]; readAt: number } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  async function readAgain(env: Env): Promise<readonly KnownKey[]> {
    triedAt = now();
    const given = Promise.resolve(read(env));
    const keys = await knownKeys(await withDeadline(given, READ_MS, late));
    // Keys that were sent before need no hash.
    const plain = new Map(held?.keys.map((key) => [key.sha256, key.plain]));
    for (const key of keys) key.plain ??= plain.get(key.sha256);
    held = { keys, readAt: triedAt };
    return keys;
  }

  /** Reads in a request of its own: in Workers, a request cannot wait for the I/O of another one. */
  const readOrKeep = async (env: Env, keys: readonly KnownKey[]) => {
    try {
      return await readAgain(env);
    } catch (error) {
      console.error("bert-edge: The API keys cannot be read again. The earlier ones stay valid.", error);
      return keys;
    }
  };

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
