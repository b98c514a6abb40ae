/** Formats named durations in milliseconds as a Server-Timing header: https://www.w3.org/TR/server-timing */
export function formatServerTiming(timings: Readonly<Record<string, number>>): string {
  return Object.entries(timings)
    .map(([name, ms]) => `${name};dur=${ms.toFixed(2)}`)
    .join(", ");
}

/**
 * Reads a duration in milliseconds from a tier's Server-Timing header; 0 if it is missing.
 *
 * @param name `queue`, `compute` or `total`
 */
export function timingOf(header: string | null, name: string): number {
  const ms = Number(new RegExp(`(?:^|,)\\s*${name};dur=(\\d+(?:\\.\\d+)?)`).exec(header ?? "")?.[1] ?? 0);
  return Number.isFinite(ms) ? ms : 0;
}
