import { expect, it } from "vitest";
import type { LoadRun, Sample } from "../load/job.ts";
import { oracleShare } from "./oracle.ts";

const run = (...times: readonly (number | undefined)[]): LoadRun => ({
  samples: times.map(
    (ms, turn): Sample => ({
      client: 0,
      turn,
      at: 0,
      ms,
      status: ms === undefined ? 0 : 200,
      code: undefined,
      tier: undefined,
      reason: undefined,
      predictedMs: undefined,
      remainingMs: undefined,
    }),
  ),
  lagMs: 0,
});

it("keeps a budget that either tier kept", () => {
  expect(oracleShare(run(5, 20, 20, 20), run(20, 5, 20, undefined), 10)).toBe(1 / 2);
});

it("leaves requests out that only one tier has", () => {
  expect(oracleShare(run(5, 5, 20), run(20), 10)).toBe(1);
  expect(oracleShare(run(), run(), 10)).toBeNaN();
});
