import { describe, expect, it } from "vitest";
import { errorLog } from "../fixtures/error-log.ts";
import { attemptOnce, noOutcomes } from "./attempts.ts";
import { targets } from "./targets.ts";

const TIMEOUT_MS = 60_000;

/** Minimum shares of accepted and refused inputs. A target that accepts or refuses nearly everything finds little. */
const MIN_SHARE = 0.03;

describe("a damaged input is accepted or refused, and does no harm:", () => {
  errorLog();

  it.each(Object.entries(targets))("%s", { timeout: TIMEOUT_MS }, async (_, { runs, start }) => {
    const attempt = await start();
    const outcomes = noOutcomes();
    for (let seed = 0; seed < runs.short; seed++) await attemptOnce(attempt, seed, outcomes);
    expect(outcomes.findings).toEqual([]);
    const refused = [...outcomes.refused.values()].reduce((sum, times) => sum + times, 0);
    expect(outcomes.accepted).toBeGreaterThan(MIN_SHARE * runs.short);
    expect(refused).toBeGreaterThan(MIN_SHARE * runs.short);
    expect(outcomes.accepted + refused).toBe(runs.short);
  });
});

it("an attempt that throws, returns no code or changes a prototype is a finding", async () => {
  const outcomes = noOutcomes();
  const attempts = [
    () => "accepted",
    () => "manifest_invalid",
    () => Promise.reject(new TypeError("x is undefined")),
    () => "fault: x",
    () => {
      Object.assign(Object.prototype, { polluted: true });
      return "accepted";
    },
  ];
  for (const [seed, attempt] of attempts.entries()) await attemptOnce(attempt, seed, outcomes);
  expect(outcomes).toMatchObject({ attempts: 5, accepted: 2 });
  expect(outcomes.findings.map(({ seed }) => seed)).toEqual([2, 3, 4]);
});
