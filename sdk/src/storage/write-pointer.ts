import { BertEdgeError } from "../artifact/error.ts";
import { pointerKey } from "../artifact/keys.ts";
import type { Pointer } from "../artifact/pointer.ts";
import { signedText } from "../artifact/signature.ts";
import type { SigningKey } from "../artifact/signing-key.ts";
import { readPointer } from "./published-artifact.ts";
import { anyAgeStore } from "./signed.ts";
import type { ObjectStore, StoredObject, WritableStore } from "./store.ts";

/** How pointers are signed. */
export interface Signing {
  readonly key: SigningKey;
  /** When readers begin to refuse the version, unless it is signed again. */
  readonly expires: Date;
}

/** The pointer to the current version, as it was when somebody began to replace it. */
export interface CurrentPointer {
  /** null: there is none. */
  readonly object: StoredObject | null;
  /** undefined: there is none, or it cannot be trusted. */
  readonly pointer: Pointer | undefined;
}

/** Codes of pointers that can be replaced although they cannot be read. */
const replaceable: ReadonlySet<string> = new Set(["pointer_invalid", "signature_invalid"]);

/**
 * Makes sure that nothing is signed that was not signed before: pointers of the store must have a signature of this key, unless the
 * store itself says whose signatures it accepts.
 */
export const trusted = <Store extends ObjectStore>(store: Store, signing: Signing | undefined): Store =>
  signing && !store.verifyPointer ? anyAgeStore(store, [signing.key.signer]) : store;

/**
 * Reads the pointer that is to be replaced. A damaged one, and one that is not signed as the store wants it, can be replaced. The
 * store must be able to replace it only if nobody else does.
 *
 * @throws BertEdgeError `signing_key_missing` if the pointer is signed and the new one would not be; `storage_unavailable`;
 *   `conditional_writes_missing`
 */
export async function currentPointer(
  store: WritableStore,
  name: string,
  signing: Signing | undefined,
): Promise<CurrentPointer> {
  // `gc` removes objects of this ending, if a service has kept one.
  await store.assertConditional?.(`${pointerKey(name)}.probe.tmp`);
  const object = (await store.head(pointerKey(name))) ?? null;
  if (!object) return { object, pointer: undefined };
  const pointer = await readable(store, name);
  // A pointer of this key that has expired still has a number that readers may know.
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
 * @throws BertEdgeError `publish_conflict` if another publisher has replaced the current one meanwhile; `signature_invalid` if
 *   the signed number of the current one is more than ten years ahead of the clock
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
  // A `gc` that began before may have removed the version meanwhile.
  if (!(await store.head(ownKey))) await store.put(ownKey, own, { contentType });
}

const contentType = "application/json";

/** Seconds by which a signed sequence number may be ahead of the clock: ten years. */
const MOST_AHEAD = 315_360_000;

/**
 * Returns a number that is higher than those of both pointers that are replaced: the time in seconds, also if the last pointer was lost,
 * or their number plus 1 if the clock of this machine is behind. A pointer that cannot be verified has no number: with a made-up one,
 * the new version would outrank those that are published after this pointer is removed. No reader has accepted such a number.
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
