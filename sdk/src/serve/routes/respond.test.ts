import { Hono } from "hono";
import { expect, it } from "vitest";
import { startDeadline } from "../routing/deadline.ts";
import { describeAnswer } from "./task-route.ts";

async function remainingAfter(compute: number, elapsedMs: number): Promise<string | null> {
  const clock = { now: 0 };
  const deadline = startDeadline(20, { now: () => clock.now });
  clock.now += elapsedMs;
  const app = new Hono().get("/", (c) => {
    const model = { model: "tiny", version: "0123456789ab", provider: "wasm" };
    const timings = { compute };
    describeAnswer(
      c,
      { ...model, texts: 1, tokens: 2, tier: "edge", reason: "over-budget", predictedMs: 45, timings, decision: {} },
      deadline,
    );
    return c.body(null);
  });
  return (await app.request("/")).headers.get("x-latency-budget-remaining-ms");
}

it("reports the rest of the budget by the clock", async () => {
  expect(await remainingAfter(44, 46)).toBe("-26.00");
});

it("subtracts the predicted time when the clock stood still during computation", async () => {
  expect(await remainingAfter(0, 1)).toBe("-26.00");
});
