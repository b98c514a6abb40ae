import { BertEdgeError } from "../../artifact/error.ts";
import type { Tier } from "../contract/headers.ts";

const TIERS: readonly Tier[] = ["edge", "region"];

export const isTier = (word: unknown): word is Tier => TIERS.some((tier) => tier === word);

/**
 * Reads which tier alone may answer; undefined if the deployment chooses.
 *
 * @param word what the caller says: a tier, or `auto`, which leaves the choice to the deployment
 * @param place names the header or the option in the message
 * @throws BertEdgeError `tier_invalid`
 */
export function readPin(word: string, place: string): Tier | undefined {
  if (word === "auto") return undefined;
  if (isTier(word)) return word;
  throw new BertEdgeError("tier_invalid", `The ${place} is ${JSON.stringify(word)}.`, {
    hint: "Send one of edge, region, auto, or leave it out.",
  });
}
