/** Predictions that are remembered per key, and keys for which they are. */
const [PER_KEY, KEYS] = [256, 1_000];

/** The predictions that callers got. A caller may report the time of an answer only once, and of no answer that it did not get. */
export interface GivenPredictions {
  /** @param key name of the caller's key; undefined without keys */
  give(key: string | undefined, predictedMs: number): void;
  /** Returns whether the key got this prediction and has not reported about it, and forgets it. */
  take(key: string | undefined, predictedMs: number): boolean;
}

/** Remembers the last predictions of each key. */
export function givenPredictions(): GivenPredictions {
  const given = new Map<string | undefined, number[]>();
  return {
    give(key, predictedMs) {
      const ofKey = given.get(key) ?? [];
      // Keys that change leave their names behind.
      if (!given.has(key) && given.size === KEYS) given.delete(given.keys().next().value);
      given.set(key, ofKey);
      ofKey.push(asSent(predictedMs));
      if (ofKey.length > PER_KEY) ofKey.shift();
    },
    take(key, predictedMs) {
      const ofKey = given.get(key) ?? [];
      const at = ofKey.indexOf(asSent(predictedMs));
      if (at >= 0) ofKey.splice(at, 1);
      return at >= 0;
    },
  };
}

/** The header has two decimals. */
const asSent = (ms: number): number => Number(ms.toFixed(2));
