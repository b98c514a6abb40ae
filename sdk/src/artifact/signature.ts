import * as v from "valibot";
import { fromHex } from "./hex.ts";

/** Name of the algorithm in WebCrypto. */
export const ED25519 = "Ed25519";
const PREFIX = "ed25519:";

/** The public key of someone who may publish models: `ed25519:` and its 32 bytes in hexadecimal. */
export const Signer = v.pipe(
  v.string(),
  v.regex(/^ed25519:[0-9a-f]{64}$/, "must be ed25519: and 64 digits of 0-9 a-f"),
);

/** Writes a public key of 32 bytes, in hexadecimal, as a signer. */
export const signerOf = (publicKey: string): string => PREFIX + publicKey;

/** Fields that a signature adds to a pointer. */
export const SignatureFields = {
  /** Rises with every signature of a model, so that readers can tell an older pointer from a newer one. */
  sequence: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  /** Time from which readers refuse the pointer. They also refuse a signed pointer without this field. */
  expires: v.optional(v.pipe(v.string(), v.isoTimestamp())),
  signature: v.optional(
    v.object({
      signer: Signer,
      value: v.pipe(v.string(), v.regex(/^[0-9a-f]{128}$/, "must be 128 digits of 0-9 a-f")),
    }),
  ),
};

/**
 * Returns the text that is signed: the key of a pointer, a newline, and the pointer without its field `signature`, as
 * `JSON.stringify` writes it. Because the text has the key, the signature is not valid if the pointer is copied to another key.
 *
 * @param pointer the parsed JSON, with all of its fields in the order of the file
 */
export function signedText(key: string, pointer: object): string {
  const { signature: _, ...rest } = pointer as { signature?: unknown };
  return `${key}\n${JSON.stringify(rest)}`;
}

/**
 * Whether a signature by `signer` matches a text.
 *
 * @param value the signature in hexadecimal
 */
export async function isSignatureOf(signer: string, value: string, text: string): Promise<boolean> {
  const key = await crypto.subtle.importKey("raw", fromHex(signer.slice(PREFIX.length)), ED25519, false, ["verify"]);
  return crypto.subtle.verify(ED25519, key, fromHex(value), new TextEncoder().encode(text));
}
