import { type Finding, findingsOf } from "../finding.ts";
import { described, failed, type Probe } from "./probe.ts";

/** Checks that requests without a key, and with a wrong one, are refused with HTTP 401. */
export async function checkKeys({ ask }: Probe): Promise<Finding[]> {
  return [
    await refused(undefined, "key_missing", "no key"),
    await refused(crypto.randomUUID(), "key_wrong", "a wrong key"),
  ];

  async function refused(key: string | undefined, code: string, name: string): Promise<Finding> {
    const { ok, broken } = findingsOf("keys", `a request with ${name}`);
    const outcome = await ask(["to be"], { otherKey: { key } });
    if (!failed(outcome)) {
      return broken(
        "It gets an answer: everybody can use the deployment.",
        "Set `keys` in functions/edge-settings.ts, and the secret API_KEYS. Without keys the deployment answers nobody.",
      );
    }
    if (outcome.status === 401 && outcome.code === code) return ok(`It is refused: HTTP 401 ${code}.`);
    return broken(
      `It gets ${described(outcome)}, and not HTTP 401 ${code}.`,
      outcome.hint ?? "Let requests reach bert-edge's own check of keys.",
    );
  }
}
