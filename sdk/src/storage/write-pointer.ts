import { BertEdgeError } from "../artifact/error.ts";
import { pointerKey } from "../artifact/keys.ts";
import type { Pointer } from "../artifact/pointer.ts";
import { signedText } from "../artifact/signature.ts";
import type { SigningKey } from "../artifact/signing-key.ts";
import { readPointer } from "./published-artifact.ts";
import type { StoredObject, WritableStore } from "./store.ts";

/** How pointers are signed. */
export interface Signing {
  readonly key: SigningKey;
  /** When readers begin to refuse the current version, unless it is signed again. */
  readonly expires: Date;
}

/** The pointer to the current version, as it was when somebody began to replace it. */
export interface CurrentPointer {
  /** null: there is none. */
  readonly object: StoredObject | null;
  /** undefined: there is none, or it cannot be read. */
  readonly pointer: Pointer | undefined;
}

/**
 * Reads the pointer that is to be replaced. A damaged one, and one that is not signed as the store wants it, can be replaced.
 *
 * @throws BertEdgeError `signing_key_missing` if the pointer is signed and the new one would not be; `storage_unavailable`
 */
export async function currentPointer(
  store: WritableStore,
  name: string,
  signing: Signing | undefined,
): Promise<CurrentPointer> {
  const object = (await store.head(pointerKey(name))) ?? null;
  if (!object) return { object, pointer: undefined };
  const pointer = await readPointer(store, name).catch((error: unknown) => {
    if (error instanceof BertEdgeError && replaceable.has(error.code)) return undefined;
    throw error;
  });
  if (signing || !pointer?.signature) return { object, pointer };
  throw new BertEdgeError(
    "signing_key_missing",
    `The current version of ${name} is signed, the new one would not be.`,
    {
      hint: "Give --signing-key, or set BERT_EDGE_SIGNING_KEY. Readers that want a signature would refuse the new version.",
    },
  );
}

const replaceable: ReadonlySet<string> = new Set(["pointer_invalid", "signature_invalid"]);

/** Writes the pointer to a version. */
export const writeVersion = (store: WritableStore, pointer: Pointer, signing: Signing | undefined): Promise<void> =>
  write(store, pointerKey(pointer.name, pointer.version), unsigned(pointer), signing);

/**
 * Makes a version the current one.
 *
 * @param before the pointer that is replaced
 * @throws BertEdgeError `publish_conflict` if another publisher has replaced it meanwhile
 */
export function writeCurrent(
  store: WritableStore,
  pointer: Pointer,
  { object, pointer: before }: CurrentPointer,
  signing: Signing | undefined,
): Promise<void> {
  // Seconds are higher than all earlier numbers, also if the last pointer was lost. The clock of this machine may be behind.
  const sequence = Math.max(Math.floor(Date.now() / 1000), (before?.sequence ?? 0) + 1);
  const signed = signing && { sequence, expires: signing.expires.toISOString() };
  return write(store, pointerKey(pointer.name), { ...unsigned(pointer), ...signed }, signing, object);
}

/** Removes what an earlier signature has added. */
const unsigned = ({ sequence: _, expires: _until, signature: _value, ...pointer }: Pointer): Pointer => pointer;

async function write(
  store: WritableStore,
  key: string,
  pointer: Pointer,
  signing: Signing | undefined,
  replaces?: StoredObject | null,
): Promise<void> {
  const signature = signing && {
    signer: signing.key.signer,
    value: await signing.key.sign(signedText(key, pointer)),
  };
  const text = `${JSON.stringify({ ...pointer, ...(signature && { signature }) }, null, 2)}\n`;
  await store.put(key, new TextEncoder().encode(text), {
    contentType: "application/json",
    ...(replaces !== undefined && { replaces }),
  });
}
