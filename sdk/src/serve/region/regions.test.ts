import { describe, expect, it, vi } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { startDeadline } from "../routing/deadline.ts";
import type { TierAnswer } from "../service.ts";
import type { ExpectedAnswer } from "./expected-answer.ts";
import type { ProvableModel } from "./golden-check.ts";
import type { RegionTier } from "./region-tier.ts";
import { newRetryBudget, regions } from "./regions.ts";

const log = errorLog();
const expected: ExpectedAnswer = {
  ...{ model: "tiny", version: "0123456789ab", lengths: [2], norm: "one" },
  computeMs: 5,
  maxTokens: 16,
};
const query = (budget?: number) => ({
  ...{ inputs: ["a"], truncate: false },
  deadline: startDeadline(budget, { now: () => 0 }),
});
const failing = (code: "region_failed" | "region_overloaded" | "input_empty") => () =>
  Promise.reject(new BertEdgeError(code, "What."));

function region(ms: number | "down", ask?: () => Promise<never>) {
  const provider = `region-${ms}`;
  return {
    predict: vi.fn<RegionTier["predict"]>((computeMs) =>
      ms === "down" ? ms : { ms: ms + computeMs, spreadMs: 1, waitMs: 0 },
    ),
    keepMeasured: vi.fn(),
    ask: vi.fn<RegionTier["ask"]>(ask ?? (async () => ({ provider }) as TierAnswer)),
  };
}

describe("regions", () => {
  it("asks the usable region with the shortest predicted time", async () => {
    const [far, near, down] = [region(80), region(20), region("down")];
    const all = regions([far, down, near], newRetryBudget());
    expect(all.predict(5)).toEqual({ ms: 25, spreadMs: 1, waitMs: 0 });
    const signal = new AbortController().signal;
    const asked = query();
    expect(await all.ask(asked, expected, { signal })).toMatchObject({ provider: "region-20" });
    expect(near.ask).toHaveBeenCalledExactlyOnceWith(asked, expected, { signal });
    for (const other of [far, down]) expect(other.ask).not.toHaveBeenCalled();
  });

  it("keeps all regions measured", () => {
    const tiers = [region(80), region("down")];
    const background = () => {};
    const model = { version: "0123456789ab" } as ProvableModel;
    regions(tiers, newRetryBudget()).keepMeasured(background, 250, model);
    for (const { keepMeasured } of tiers) expect(keepMeasured).toHaveBeenCalledExactlyOnceWith(background, 250, model);
  });

  it("is down when all regions are", async () => {
    for (const tiers of [[], [region("down"), region("down")]]) {
      const all = regions(tiers, newRetryBudget());
      expect(all.predict(5)).toBe("down");
      await expect(all.ask(query(), expected)).rejects.toMatchObject({ code: "region_failed" });
    }
  });

  it.each(["region_failed", "region_overloaded"] as const)(
    "asks the second region after %s, and logs it",
    async (code) => {
      const all = regions([region(20, failing(code)), region(80)], newRetryBudget());
      expect(await all.ask(query(), expected)).toMatchObject({ provider: "region-80" });
      expect(log).toHaveBeenCalledOnce();
    },
  );

  it.each([
    ["the request is invalid", {}, failing("input_empty"), undefined],
    ["the caller has gone", {}, () => Promise.reject(new DOMException("gone", "AbortError")), undefined],
    ["the edge answers too", { hedge: true }, failing("region_failed"), undefined],
    ["the second one would be late", {}, failing("region_failed"), 84],
  ])("does not ask the second region when %s", async (_, options, embed, budget) => {
    const second = region(80);
    const all = regions([region(20, embed), second], newRetryBudget());
    await expect(all.ask(query(budget), expected, options)).rejects.toThrow();
    expect(second.ask).not.toHaveBeenCalled();
  });

  it("asks the second region as often as the extra load allows", async () => {
    const second = region(80);
    const retryBudget = newRetryBudget();
    const all = regions([region(20, failing("region_failed")), second], retryBudget);
    for (let request = 0; request < 10; request++) await all.ask(query(), expected).catch(() => {});
    expect(second.ask).toHaveBeenCalledTimes(3);
    for (let answer = 0; answer < 21; answer++) retryBudget.answered();
    for (let request = 0; request < 10; request++) await all.ask(query(), expected).catch(() => {});
    expect(second.ask).toHaveBeenCalledTimes(4);
  });
});
