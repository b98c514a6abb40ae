/** Extra requests per answer, and extra requests that may be sent at once. */
const SHARE = 1 / 20;
const BURST = 3;

/**
 * Limits the load that retries and hedges add: together at most 5 % of the answers, and a few more at once. Without a limit,
 * they would double the load of regions that fail because they have too much of it.
 */
export interface ExtraLoad {
  /** Counts an answer to a caller, from whichever tier. */
  answered(): void;
  /** Takes the right to send one extra request. Returns false when there is none left. */
  take(): boolean;
}

/** Makes a token bucket: every answer adds a part of a token, and every extra request takes a whole one. */
export function extraLoad(): ExtraLoad {
  let tokens = BURST;
  return {
    answered() {
      tokens = Math.min(BURST, tokens + SHARE);
    },
    take() {
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
}
