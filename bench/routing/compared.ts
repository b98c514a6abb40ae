import { parity } from "#sdk/compile/accuracy/parity.ts";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { TIER_HEADER, type Tier } from "#sdk/serve/contract/headers.ts";
import { decodeFloats } from "#sdk/serve/contract/vector-text.ts";
import type { EmbedResponse } from "#sdk/serve/tasks/embed.ts";
import { figuresOf } from "../figures.ts";
import type { Context } from "./context.ts";
import { embed } from "./embed.ts";

/** Compares the vectors of a tier that has been started with those of float32, and returns the tier. */
export async function compared<T extends { readonly url: string }>(
  name: Tier,
  tier: T,
  { expected, figures }: Context,
): Promise<T> {
  if (!expected) return tier;
  const { body } = await embed(tier.url, probeTexts, { [TIER_HEADER]: name });
  const { embeddings } = JSON.parse(`${body}`) as EmbedResponse;
  const { minCosine } = parity(expected, (embeddings as string[]).map(decodeFloats));
  figures.push(...figuresOf(name, { "cosine with float32": [minCosine, "agreement"] }));
  return tier;
}
