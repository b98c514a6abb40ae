import { BertEdgeError } from "./error.ts";
import { toHex } from "./hex.ts";
import { ED25519, signerOf } from "./signature.ts";

/** A private key that signs pointers. */
export interface SigningKey {
  /** Its public key, for the setting MODEL_SIGNERS of readers. */
  readonly signer: string;
  /** Signs the UTF-8 of a text. @returns the signature in hexadecimal */
  sign(text: string): Promise<string>;
}

/**
 * Imports a private key.
 *
 * @param pem PKCS #8 in PEM, as `bert-edge keys signer` and `openssl genpkey -algorithm ed25519` write it
 * @throws BertEdgeError `signing_key_invalid`
 */
export async function importSigningKey(pem: string): Promise<SigningKey> {
  try {
    const [, body = ""] = /-----BEGIN PRIVATE KEY-----([\w+/=\s]+)-----END PRIVATE KEY-----/.exec(pem) ?? [];
    const key = await crypto.subtle.importKey("pkcs8", bytesOf(body.replace(/\s/g, "")), ED25519, true, ["sign"]);
    // A private key is exported together with its public key, in base64url.
    const { x = "" } = await crypto.subtle.exportKey("jwk", key);
    return {
      signer: signerOf(toHex(bytesOf(x.replace(/-/g, "+").replace(/_/g, "/")))),
      sign: async (text) =>
        toHex(new Uint8Array(await crypto.subtle.sign(ED25519, key, new TextEncoder().encode(text)))),
    };
  } catch {
    // The cause is left out: it may quote the key.
    throw new BertEdgeError("signing_key_invalid", "The signing key is not an Ed25519 key in PEM.", {
      hint: "Make one with `bert-edge keys signer`, or with `openssl genpkey -algorithm ed25519`.",
    });
  }
}

/** Makes a private key. @returns the key as PKCS #8 in PEM */
export async function newSigningKey(): Promise<string> {
  const { privateKey } = (await crypto.subtle.generateKey(ED25519, true, ["sign", "verify"])) as CryptoKeyPair;
  const der = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey));
  return `-----BEGIN PRIVATE KEY-----\n${btoa(String.fromCharCode(...der))}\n-----END PRIVATE KEY-----\n`;
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
