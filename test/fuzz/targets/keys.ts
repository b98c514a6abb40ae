import { parseKeys } from "#sdk/serve/keys/key-list.ts";
import { signersFromEnv } from "#sdk/storage/signed.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import type { Json } from "../damage-json.ts";
import { damagedJsonText } from "../damaged-json-text.ts";
import { outcome } from "../outcome.ts";
import type { Target } from "../target.ts";

const hash = "0123456789abcdef".repeat(4);
const list: Json = [
  { name: "web", key: `sha256:${hash}`, requestsPerMinute: 600, latencyBudgetMs: 100 },
  { name: "batch", key: "a-key-that-is-long", tokensPerMinute: 1e6, tier: "region" },
  "another-key",
];
const lines = `web:sha256:${hash},batch:a-key-that-is-long\nplain`;
const signers = `ed25519:${hash}, ed25519:${hash}`;

/** Lists of API keys and of signers. */
export const keys: Target = {
  runs: { long: 100_000, short: 300 },
  refusals: ["setting_invalid"],
  start: async () => (seed) => {
    const choice = new SeededChoice(seed);
    const damagedText = (text: string) => new TextDecoder().decode(damagedBytes(Buffer.from(text), choice));
    if (choice.below(4) === 0) {
      const MODEL_MIN_SEQUENCE = choice.of(["0", "-1", "1e99", "x", "12"]);
      return outcome(() => signersFromEnv({ MODEL_SIGNERS: damagedText(signers), MODEL_MIN_SEQUENCE }));
    }
    const text = choice.below(3) === 0 ? damagedText(lines) : damagedJsonText(list, choice);
    return outcome(() => parseKeys(text));
  },
};
