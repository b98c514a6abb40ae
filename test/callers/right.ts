import { TIER_HEADER, type Tier } from "#sdk/serve/contract/headers.ts";
import { type Access, startEmbed } from "../fixtures/start-embed.ts";
import { type Reply, startPost } from "../fixtures/start-post.ts";
import { MOST_TEXTS, WORDS } from "./requests.ts";

/** Answers of tiers on which nothing else runs. Those of busy tiers are compared with them. */
export interface RightAnswers {
  /** The vectors of each word in base64: one of each tier. */
  readonly right: Readonly<Record<string, readonly string[]>>;
  /** The beginning of each tier's answer to `manyWords` in numbers, from its first vector. */
  readonly rightBeginnings: readonly string[];
}

/** The words of a request for as many vectors as a request may want. */
export const manyWords = (): string[] =>
  Array.from({ length: MOST_TEXTS }, (_, i) => WORDS[i % WORDS.length] as string);

/** Words of which the vectors are compared, of those that a slow reader wants: more than it reads. */
const COMPARED = 4 * WORDS.length;

/** Asks each tier for the vectors of all words. */
export async function rightAnswers(access: Access, tiers: readonly Tier[]): Promise<RightAnswers> {
  const right: Record<string, string[]> = Object.fromEntries(WORDS.map((word) => [word, []]));
  const rightBeginnings: string[] = [];
  for (const tier of tiers) {
    const headers = { [TIER_HEADER]: tier };
    const { embeddings } = JSON.parse(answered(await startEmbed(access, WORDS, headers).reply)) as {
      embeddings: string[];
    };
    WORDS.forEach((word, i) => void right[word]?.push(embeddings[i] as string));
    const body = JSON.stringify({ inputs: manyWords().slice(0, COMPARED) });
    const numbers = startPost(`${access.url}/v1/embed`, {
      headers: { authorization: `Bearer ${access.key}`, ...headers },
      body,
    });
    const text = answered(await numbers.reply);
    rightBeginnings.push(text.slice(text.indexOf("[["), text.lastIndexOf("]]")));
  }
  return { right, rightBeginnings };
}

function answered({ status, body }: Reply): string {
  if (status !== 200) throw new Error(`The answer is ${status}: ${body}`);
  return `${body}`;
}
