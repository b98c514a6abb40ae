/** Formats named durations in milliseconds as a Server-Timing header: https://www.w3.org/TR/server-timing */
export function formatServerTiming(timings: Readonly<Record<string, number>>): string {
  return Object.entries(timings)
    .map(([name, ms]) => `${name};dur=${ms.toFixed(2)}`)
    .join(", ");
}

/** Reads the milliseconds of computation from a tier's Server-Timing header; 0 if they are missing. */
export function computedMs(header: string | null): number {
  return Number(/(?:^|,)\s*compute;dur=(\d+(?:\.\d+)?)/.exec(header ?? "")?.[1] ?? 0);
}
