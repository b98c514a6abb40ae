import { parity } from "#sdk/compile/accuracy/parity.ts";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { decodeFloats } from "#sdk/serve/contract/base64.ts";
import { TIER_HEADER, type Tier } from "#sdk/serve/contract/headers.ts";
import type { EmbedResponse } from "#sdk/serve/tasks/embed.ts";
import { startEmbed } from "#test/fixtures/start-embed.ts";
import { figuresOf } from "../figures.ts";
import { type Context, KEY } from "./context.ts";

/** Compares the vectors of a tier that has been started with those of float32, and returns the tier. */
export async function compared<T extends { readonly url: string }>(
  name: Tier,
  tier: T,
  { expected, figures }: Context,
): Promise<T> {
  if (!expected) return tier;
  const { status, body } = await startEmbed({ url: tier.url, key: KEY }, probeTexts, { [TIER_HEADER]: name }).reply;
  if (status !== 200) throw new Error(`The ${name} answered ${status}: ${body}`);
  const { embeddings } = JSON.parse(`${body}`) as EmbedResponse;
  const { minCosine } = parity(expected, (embeddings as string[]).map(decodeFloats));
  figures.push(...figuresOf(name, { "cosine with float32": [minCosine, "agreement"] }));
  return tier;
}
