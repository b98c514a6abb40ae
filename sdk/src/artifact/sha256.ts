import { toHex } from "./hex.ts";

/** Returns the SHA-256 of `bytes` in lower-case hexadecimal. Uses WebCrypto, so it runs in every runtime. */
export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
