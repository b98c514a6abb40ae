import type { Context } from "hono";

/** Returns the address that Cloudflare names. Elsewhere, a caller can write any header, and this is undefined. */
export const callerAddress = (c: Context): string | undefined =>
  isOnCloudflare(c) ? c.req.header("cf-connecting-ip") : undefined;

/** Workers give every request `cf`, which a header cannot forge. */
const isOnCloudflare = (c: Context): boolean => (c.req.raw as { cf?: unknown }).cf !== undefined;
