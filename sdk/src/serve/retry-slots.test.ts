import { describe, expect, it } from "vitest";
import { retrySlots } from "./refusal.ts";

const clock = { now: 1_000 };
const make = () => retrySlots(() => clock.now);

describe("retrySlots", () => {
  it("gives the first request the time that it needs", () => {
    expect(make()("a", 50, 8)).toBe(50);
  });

  it("gives later requests later slots, and reuses none", () => {
    const take = make();
    expect([take("a", 50, 8), take("a", 50, 8), take("a", 50, 8)]).toEqual([50, 58, 66]);
    clock.now += 10;
    expect(take("a", 50, 8)).toBe(64);
    clock.now += 1_000;
    expect(take("a", 50, 8)).toBe(50);
  });

  it("lets no caller wait for the slots of another one", () => {
    const take = make();
    for (let i = 0; i < 100; i++) take("a", 50, 8);
    expect([take("b", 50, 8), take("b", 50, 8), take("a", 50, 8)]).toEqual([50, 58, 850]);
  });

  it("lets no request wait for its slot for more than 2 s", () => {
    const take = make();
    for (let i = 0; i < 1_000; i++) take("a", 50, 8);
    expect(take("a", 50, 8)).toBe(2_050);
    expect(take("a", 5_000, 8)).toBe(5_000);
    expect(take("a", 50, 8)).toBe(2_050);
  });
});
