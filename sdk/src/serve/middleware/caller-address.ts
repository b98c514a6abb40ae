import type { Context } from "hono";

/** Groups of 16 bits of an IPv6 address that name its network. The other 64 bits are the caller's to choose. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/**
 * Returns the address that Cloudflare names; of IPv6, its network of 64 bits. Elsewhere, a caller can write any header, and this
 * is undefined.
 */
export function callerAddress(c: Context): string | undefined {
  const address = isOnCloudflare(c) ? c.req.header("cf-connecting-ip") : undefined;
  return address?.includes(":") ? networkOf(address) : address;
}

/** Returns the network of an IPv6 address: `2001:db8:0:0::/64` for `2001:db8::1`. */
function networkOf(address: string): string {
  const [before = [], after = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array<string>(Math.max(0, GROUPS - before.length - after.length)).fill("0");
  return `${[...before, ...zeros, ...after].slice(0, NETWORK_GROUPS).join(":")}::/64`;
}

/** Workers give every request `cf`, which a header cannot forge. */
const isOnCloudflare = (c: Context): boolean => (c.req.raw as { cf?: unknown }).cf !== undefined;
