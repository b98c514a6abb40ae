import { readFile } from "node:fs/promises";
import { BertEdgeError } from "../artifact/error.ts";
import type { WritableStore } from "../storage/store.ts";
import type { Signing } from "../storage/write-pointer.ts";
import { positiveInteger } from "./options.ts";

const DAY_MS = 86_400_000;
const EXPIRES_DAYS = 365;

/** Options of commands that make a version current. */
export interface SigningOptions {
  readonly signingKey?: string;
  /** In days. */
  readonly expires?: number;
}

export const signingKeyOption = [
  "--signing-key <file>",
  "sign with this key of `bert-edge keys signer` (default: $BERT_EDGE_SIGNING_KEY, which has the key itself)",
] as const;
export const expiresOption = [
  "--expires <days>",
  "days after which the signature expires",
  positiveInteger,
  EXPIRES_DAYS,
] as const;

/**
 * Reads the signing key. With one, the store's own pointers must be signed too: by this key, or by one of $MODEL_SIGNERS.
 *
 * @throws BertEdgeError `signing_key_invalid`, `setting_invalid`
 */
export async function signingOf<Store extends WritableStore>(
  store: Store,
  { signingKey, expires = EXPIRES_DAYS }: SigningOptions = {},
): Promise<{ store: Store; signing: Signing | undefined }> {
  const pem = signingKey === undefined ? process.env["BERT_EDGE_SIGNING_KEY"] : await readKey(signingKey);
  if (!pem) return { store, signing: undefined };
  const { importSigningKey } = await import("../artifact/signing-key.ts");
  const { signedStore, signersFromEnv } = await import("../storage/signed.ts");
  const key = await importSigningKey(pem);
  const { signers = [] } = signersFromEnv({ MODEL_SIGNERS: process.env["MODEL_SIGNERS"] }) ?? {};
  return {
    store: signedStore(store, { signers: [key.signer, ...signers] }),
    signing: { key, expires: new Date(Date.now() + expires * DAY_MS) },
  };
}

async function readKey(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new BertEdgeError("signing_key_invalid", `The signing key ${path} cannot be read.`, {
      hint: "Give the file that has the private key.",
      cause,
    });
  }
}
