import { InvalidArgumentError } from "commander";
import { namedText } from "../compile/files/whole-file.ts";
import type { WritableStore } from "../storage/store.ts";
import type { Signing } from "../storage/write-pointer.ts";

const DAY_MS = 86_400_000;
const EXPIRES_DAYS = 365;
/** Maximum number of days until a signature expires: ten years. Much larger numbers exceed the range of JavaScript's dates. */
const MOST_DAYS = 3_650;

/** Options of commands that make a version current. */
export interface SigningOptions {
  readonly signingKey?: string;
  /** Number of days until the signature expires. */
  readonly expires?: number;
}

export const signingKeyOption = [
  "--signing-key <file>",
  "sign with this key of `bert-edge keys signer` (default: $BERT_EDGE_SIGNING_KEY, which has the key itself)",
] as const;
export const expiresOption = [
  "--expires <days>",
  "days after which the signature expires",
  expiryDays,
  EXPIRES_DAYS,
] as const;

export function expiryDays(value: string): number {
  const days = Number(value);
  if (Number.isSafeInteger(days) && days >= 1 && days <= MOST_DAYS) return days;
  throw new InvalidArgumentError(`${value} is not a whole number of days from 1 to ${MOST_DAYS}.`);
}

/**
 * Reads the signing key. If there is a key, or $MODEL_SIGNERS is set, returns a store whose pointers must be signed by one of these keys.
 * The pointers may be expired, because a publisher with the key can sign them again.
 *
 * @throws BertEdgeError `signing_key_invalid`, also for an empty file or variable; `setting_invalid`
 */
export async function signingOf<Store extends WritableStore>(
  store: Store,
  { signingKey, expires = EXPIRES_DAYS }: SigningOptions = {},
): Promise<{ store: Store; signing: Signing | undefined }> {
  const { anyAgeStore, signersFromEnv } = await import("../storage/signed.ts");
  const { signers } = signersFromEnv({ MODEL_SIGNERS: process.env["MODEL_SIGNERS"] }) ?? {};
  const pem =
    signingKey === undefined
      ? process.env["BERT_EDGE_SIGNING_KEY"]
      : namedText(
          signingKey,
          "signing_key_invalid",
          `The signing key ${signingKey}`,
          "Give the file that has the private key.",
        );
  if (pem === undefined) return { store: signers ? anyAgeStore(store, signers) : store, signing: undefined };
  const { importSigningKey } = await import("../artifact/signing-key.ts");
  const key = await importSigningKey(pem);
  return {
    store: anyAgeStore(store, [key.signer, ...(signers ?? [])]),
    signing: { key, expires: new Date(Date.now() + expires * DAY_MS) },
  };
}
