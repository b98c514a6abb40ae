import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { withDeadline } from "./with-deadline.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const late = () => new Error("late");

describe("withDeadline", () => {
  it("settles as the promise does", async () => {
    await expect(withDeadline(Promise.resolve(7), 10, late)).resolves.toBe(7);
    await expect(withDeadline(Promise.reject(new Error("no")), 10, late)).rejects.toThrow("no");
  });

  it("rejects after the deadline, not before", async () => {
    let outcome = "pending";
    const settled = withDeadline(new Promise(() => {}), 10, late).catch((error: Error) => {
      outcome = error.message;
    });
    await vi.advanceTimersByTimeAsync(9);
    expect(outcome).toBe("pending");
    await vi.advanceTimersByTimeAsync(1);
    await settled;
    expect(outcome).toBe("late");
  });

  it("leaves no timer behind", async () => {
    await withDeadline(Promise.resolve(), 10, late);
    await withDeadline(Promise.reject(new Error("no")), 10, late).catch(() => {});
    expect(vi.getTimerCount()).toBe(0);
  });
});
