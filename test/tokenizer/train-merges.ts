import { randomNumbers } from "../fixtures/seeded.ts";
import { from } from "./parts.ts";

const ROUNDS = 25;
const MERGES_A_ROUND = 30;
const OTHER_MERGES = 300;

interface Word {
  readonly tokens: readonly string[];
  /** How often the texts have it. */
  readonly times: number;
}

/** Counts equal words: most words of a text are frequent. */
function distinct(words: readonly (readonly string[])[]): Word[] {
  const counted = new Map<string, Word>();
  for (const tokens of words) {
    const key = tokens.join(" ");
    counted.set(key, { tokens, times: (counted.get(key)?.times ?? 0) + 1 });
  }
  return [...counted.values()];
}

/** Joins neighbours that are a chosen pair, from left to right. */
function joined(word: readonly string[], chosen: ReadonlySet<string>): string[] {
  const tokens: string[] = [];
  for (const token of word) {
    const last = tokens.at(-1);
    if (chosen.has(`${last} ${token}`)) tokens[tokens.length - 1] = last + token;
    else tokens.push(token);
  }
  return tokens;
}

/**
 * Learns merges of the most frequent pairs in words. Then adds random merges: they join other pairs,
 * but the results are tokens that the vocabulary already has.
 */
export function trainMerges(
  given: readonly string[][],
  firsts: readonly string[],
  specials: readonly string[] = [],
): { vocab: Record<string, number>; merges: string[] } {
  let words = distinct(given);
  const merges: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const counts = new Map<string, number>();
    for (const { tokens, times } of words) {
      for (let i = 1; i < tokens.length; i++) {
        const pair = `${tokens[i - 1]} ${tokens[i]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + times);
      }
    }
    const frequent = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, MERGES_A_ROUND);
    merges.push(...frequent.map(([pair]) => pair));
    const chosen = new Set(merges);
    words = words.map(({ tokens, times }) => ({ tokens: joined(tokens, chosen), times }));
  }
  const tokens = [...new Set([...firsts, ...merges.map((pair) => pair.replace(" ", ""))])];
  const vocab = Object.fromEntries([...specials, ...tokens].map((token, id) => [token, id]));
  const random = randomNumbers(1);
  for (let i = 0; i < OTHER_MERGES; ) {
    const token = from(random, tokens);
    const cut = 1 + Math.floor(random() * (token.length - 1));
    const [left, right] = [token.slice(0, cut), token.slice(cut)];
    if (!(left in vocab && right in vocab)) continue;
    merges.splice(Math.floor(random() * merges.length), 0, `${left} ${right}`);
    i++;
  }
  return { vocab, merges };
}
