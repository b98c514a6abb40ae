import { BertEdgeError } from "../artifact/error.ts";
import { pointerKey } from "../artifact/keys.ts";
import type { Pointer } from "../artifact/pointer.ts";
import { signedText } from "../artifact/signature.ts";
import type { SigningKey } from "../artifact/signing-key.ts";
import { readPointer } from "./published-artifact.ts";
import { anyAgeStore } from "./signed.ts";
import type { ObjectStore, StoredObject, WritableStore } from "./store.ts";

/** Settings for signing pointers. */
export interface Signing {
  readonly key: SigningKey;
  /** Time from which readers refuse the version, unless it is signed again. */
  readonly expires: Date;
}

/** The pointer to the current version, as it was before a command began to replace it. */
export interface CurrentPointer {
  /** The stored object that contains the pointer; null if it does not exist. */
  readonly object: StoredObject | null;
  /** undefined if the pointer does not exist, is damaged, or cannot be trusted. */
  readonly pointer: Pointer | undefined;
}

/** Error codes of pointers that can be replaced although they cannot be read. */
const replaceable: ReadonlySet<string> = new Set(["pointer_invalid", "signature_invalid"]);

/**
 * Makes a store that accepts only pointers with a signature of this key, so that no pointer of somebody else gets signed. Returns the
 * store itself if nothing is signed, or if the store already checks signatures.
 */
export const trusted = <Store extends ObjectStore>(store: Store, signing: Signing | undefined): Store =>
  signing && !store.verifyPointer ? anyAgeStore(store, [signing.key.signer]) : store;

/**
 * Reads the pointer to the current version before it is replaced. A pointer that is damaged, or not signed as the store requires, can
 * be replaced too. Also checks that the store supports conditional writes.
 *
 * @throws BertEdgeError `signing_key_missing` if the pointer is signed and the new one would not be; `storage_unavailable`;
 *   `conditional_writes_missing`
 */
export async function currentPointer(
  store: WritableStore,
  name: string,
  signing: Signing | undefined,
): Promise<CurrentPointer> {
  // If the service keeps the object of this check, `gc` removes it, because its key ends with `.tmp`.
  await store.assertConditional?.(`${pointerKey(name)}.probe.tmp`);
  const object = (await store.head(pointerKey(name))) ?? null;
  if (!object) return { object, pointer: undefined };
  const pointer = await readable(store, name);
  // Readers may have seen the sequence number of an expired pointer that this key has signed, so such a pointer counts too.
  if (signing) {
    return { object, pointer: pointer ?? (await readable(anyAgeStore(store, [signing.key.signer]), name)) };
  }
  const { verifyPointer: _, ...anySignature } = store;
  if (!(pointer ?? (await readable(anySignature, name)))?.signature) return { object, pointer };
  throw new BertEdgeError(
    "signing_key_missing",
    `The current version of ${name} is signed, the new one would not be.`,
    {
      hint: "Give --signing-key, or set BERT_EDGE_SIGNING_KEY. Readers that want a signature would refuse the new version.",
    },
  );
}

const readable = (store: ObjectStore, name: string): Promise<Pointer | undefined> =>
  readPointer(store, name).catch((error: unknown) => {
    if (error instanceof BertEdgeError && replaceable.has(error.code)) return undefined;
    throw error;
  });

export interface Replacement {
  /** The pointer that is replaced. */
  readonly before: CurrentPointer;
  /** The version that `rollback` makes current. */
  readonly previous: string | null | undefined;
  readonly signing: Signing | undefined;
}

/**
 * Makes a version the current one: writes the pointer to the version, then the pointer to the current version. Both have the same
 * sequence number, so that a minimum that accepts one of them accepts the other too.
 *
 * @throws BertEdgeError `publish_conflict` if another publisher has replaced the pointer to the current version meanwhile;
 *   `signature_invalid` if the sequence number of a pointer is more than ten years ahead of the clock
 */
export async function writePointers(
  store: WritableStore,
  pointer: Pointer,
  { before, previous, signing }: Replacement,
): Promise<void> {
  const signed = signing && { sequence: nextSequence(store, pointer, before), expires: signing.expires.toISOString() };
  const { sequence: _, expires: _until, signature: _value, ...unsigned } = pointer;
  const ownKey = pointerKey(pointer.name, pointer.version);
  const own = await bytesOf(ownKey, { ...unsigned, ...signed }, signing);
  await store.put(ownKey, own, { contentType });
  const key = pointerKey(pointer.name);
  const current = await bytesOf(key, { ...unsigned, ...(previous !== undefined && { previous }), ...signed }, signing);
  await store.put(key, current, { contentType, replaces: before.object });
  // A `gc` that began earlier may have removed the pointer to the version meanwhile.
  if (!(await store.head(ownKey))) await store.put(ownKey, own, { contentType });
}

const contentType = "application/json";

/** Maximum number of seconds by which a signed sequence number may be ahead of the clock: ten years. */
const MOST_AHEAD = 315_360_000;

/**
 * Returns a sequence number that is higher than the numbers of both pointers that are replaced. It is the time in seconds, or the higher
 * number plus 1 if this machine's clock is behind. Even if the last pointer was lost, the time is higher than its number.
 *
 * The number of a pointer that cannot be verified does not count. No reader has accepted it, and a made-up high number would let the new
 * version outrank later versions.
 */
function nextSequence(
  { name: store }: ObjectStore,
  { name, sequence: own = 0 }: Pointer,
  before: CurrentPointer,
): number {
  const now = Math.floor(Date.now() / 1000);
  const sequence = Math.max(own, before.pointer?.sequence ?? 0);
  if (sequence - now < MOST_AHEAD) return Math.max(now, sequence + 1);
  const key = pointerKey(name);
  throw new BertEdgeError(
    "signature_invalid",
    `The pointer ${store}/${key} has the sequence number ${sequence}, more than ten years ahead of the clock.`,
    {
      hint: `Correct the clock of this machine. If the clock is right, the pointer was signed on a machine with a wrong clock: remove ${key}, publish or promote with a new key, and remove the old key from MODEL_SIGNERS.`,
    },
  );
}

async function bytesOf(key: string, pointer: Pointer, signing: Signing | undefined): Promise<Uint8Array<ArrayBuffer>> {
  const signature = signing && {
    signer: signing.key.signer,
    value: await signing.key.sign(signedText(key, pointer)),
  };
  const text = `${JSON.stringify({ ...pointer, ...(signature && { signature }) }, null, 2)}\n`;
  return new TextEncoder().encode(text);
}
