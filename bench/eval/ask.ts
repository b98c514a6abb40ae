import { KEY } from "#test/fixtures/served-tiers.ts";

const TIMEOUT_MS = 300_000;

/**
 * Sends a body to a route of a tier.
 *
 * @returns the JSON of the answer
 * @throws Error if the status is not 200
 */
export type Ask = (path: string, body: object) => Promise<unknown>;

export const askerOf =
  (url: string): Ask =>
  async (path, body) => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`${path} answered HTTP ${response.status}: ${await response.text()}`);
    return response.json();
  };

/** Texts of a request: few enough that it is short at the edge. */
const BATCH = 32;

/** Asks for the results of many texts, a part of them at a time. */
export async function inParts<T, R>(texts: readonly T[], ask: (part: readonly T[]) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < texts.length; start += BATCH) {
    results.push(...(await ask(texts.slice(start, start + BATCH))));
  }
  return results;
}
