import { afterEach, describe, expect, it, vi } from "vitest";
import { BertEdgeError } from "#sdk/artifact/error.ts";
import { encodeBytes } from "#sdk/serve/contract/vector-text.ts";
import { errorLog } from "../fixtures/error-log.ts";
import { attemptOnce, noOutcomes } from "./attempts.ts";
import { outcome } from "./outcome.ts";
import type { Refusal } from "./target.ts";
import { targets } from "./targets.ts";

/** Keeps what an attempt has allocated. */
const kept: Uint8Array[] = [];

const TIMEOUT_MS = 60_000;

/** Minimum shares of accepted and refused inputs. A target that accepts or refuses nearly everything finds little. */
const MIN_SHARE = 0.03;

describe("a damaged input is accepted or refused, and does no harm:", () => {
  errorLog();

  it.each(Object.entries(targets))("%s", { timeout: TIMEOUT_MS }, async (_, { runs, refusals, start }) => {
    const trial = { attempt: await start(), refusals };
    const outcomes = noOutcomes();
    for (let seed = 0; seed < runs.short; seed++) await attemptOnce(trial, seed, outcomes);
    expect(outcomes.findings).toEqual([]);
    const refused = [...outcomes.refused.values()].reduce((sum, times) => sum + times, 0);
    expect(outcomes.accepted).toBeGreaterThan(MIN_SHARE * runs.short);
    expect(refused).toBeGreaterThan(MIN_SHARE * runs.short);
    expect(outcomes.accepted + refused).toBe(runs.short);
  });
});

/** A function of the package crashes, and its caller makes a refusal of it. */
function crashInside(): never {
  try {
    encodeBytes(undefined as never);
  } catch (cause) {
    throw new BertEdgeError("manifest_invalid", "The manifest cannot be read.", { cause });
  }
  throw new Error("There was no crash.");
}

afterEach(() => void vi.restoreAllMocks());

const refusals: readonly Refusal[] = ["manifest_invalid", "http_422", "not_packed"];
const soundToString = Object.prototype.toString;

it.each<[what: string, attempt: () => string | Promise<string>]>([
  ["throws", () => Promise.reject(new TypeError("x is undefined"))],
  ["hides a crash behind its code", () => outcome(() => crashInside())],
  ["returns no code", () => "fault: x"],
  ["returns a code that does not exist", () => "hang"],
  ["returns the code of an unexpected error", () => "internal"],
  ["returns a code that is not one of the target", () => "engine_failed"],
  ["returns the status of an unexpected error", () => "http_500"],
  [
    "takes much CPU time",
    () => {
      vi.spyOn(process, "threadCpuUsage").mockReturnValueOnce({ user: 10_000_000, system: 0 });
      return "accepted";
    },
  ],
  [
    "adds to a prototype",
    () => {
      Object.assign(Object.prototype, { polluted: true });
      return "accepted";
    },
  ],
  [
    "replaces a method of a prototype",
    () => {
      Object.assign(Object.prototype, { toString: () => "x" });
      return "accepted";
    },
  ],
  [
    "allocates much",
    () => {
      kept.push(new Uint8Array(200 * 2 ** 20));
      return "manifest_invalid";
    },
  ],
])("an attempt that %s is a finding", async (_, attempt) => {
  const outcomes = noOutcomes();
  await attemptOnce({ attempt, refusals }, 7, outcomes);
  kept.length = 0;
  expect(outcomes).toMatchObject({ attempts: 1, accepted: 0, findings: [{ seed: 7 }] });
  expect(outcomes.refused.size).toBe(0);
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(Object.prototype.toString).toBe(soundToString);
});

it.each(["accepted", "manifest_invalid", "http_422", "not_packed"])("the outcome %s is no finding", async (outcome) => {
  const outcomes = noOutcomes();
  await attemptOnce({ attempt: () => outcome, refusals }, 7, outcomes);
  expect(outcomes.findings).toEqual([]);
  expect(outcomes.accepted + (outcomes.refused.get(outcome) ?? 0)).toBe(1);
});
