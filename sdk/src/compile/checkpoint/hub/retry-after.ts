/**
 * Returns how long to wait before the next request, in ms; undefined if the response does not say. Reads `Retry-After`
 * (https://httpwg.org/specs/rfc9110.html#field.retry-after) and the Hub's `RateLimit`, such as `"api";r=0;t=55`
 * (https://huggingface.co/docs/hub/rate-limits).
 */
export function retryAfterMs(headers: Headers, now = Date.now()): number | undefined {
  const after = headers.get("retry-after") ?? "";
  if (/^\d{1,9}$/.test(after)) return 1000 * Number(after);
  const date = Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const [, seconds] = /;\s*t=(\d{1,9})/.exec(headers.get("ratelimit") ?? "") ?? [];
  return seconds === undefined ? undefined : 1000 * Number(seconds);
}
