import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BertEdgeClientError } from "./errors.ts";
import { withRetries } from "./with-retries.ts";

const failing = (retryAfterMs?: number, retryable = true) =>
  new BertEdgeClientError("Later.", { code: "http_503", retryable, retryAfterMs });

/** Returns an attempt that throws these errors, one after the other, and then succeeds. It records when it is called. */
function attemptThat(...errors: unknown[]) {
  const at: number[] = [];
  const start = Date.now();
  const attempt = async () => {
    at.push(Date.now() - start);
    if (errors.length > 0) throw errors.shift();
    return "done";
  };
  return { attempt, at };
}

/** Runs all timers, and returns the result or the error. */
async function outcome(work: Promise<unknown>): Promise<unknown> {
  const settled = work.catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return settled;
}

describe("withRetries", () => {
  const signal = new AbortController().signal;
  let random = 0;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
    vi.spyOn(Math, "random").mockImplementation(() => random);
  });
  afterEach(() => {
    random = 0;
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("waits twice as long before each retry, up to eight seconds", async () => {
    const { attempt, at } = attemptThat(...Array.from({ length: 7 }, () => failing()));
    expect(await outcome(withRetries(attempt, { maxRetries: 7, signal }))).toBe("done");
    expect(at.slice(1).map((time, i) => time - (at[i] ?? 0))).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  it("adds up to half of the backoff at random", async () => {
    random = 0.5;
    const { attempt, at } = attemptThat(failing(), failing());
    await outcome(withRetries(attempt, { maxRetries: 2, signal }));
    expect(at).toEqual([0, 375, 375 + 750]);
  });

  it("waits at least as long as the service asks", async () => {
    random = 0.5;
    const { attempt, at } = attemptThat(failing(3_000));
    await outcome(withRetries(attempt, { maxRetries: 1, signal }));
    expect(at).toEqual([0, 3_125]);
  });

  it("does not wait longer than a minute: the caller gets the error at once", async () => {
    const { attempt, at } = attemptThat(failing(60_001));
    expect(await outcome(withRetries(attempt, { maxRetries: 3, signal }))).toMatchObject({ retryAfterMs: 60_001 });
    expect(at).toEqual([0]);
  });

  it("throws the last error after maxRetries retries", async () => {
    const last = failing();
    const { attempt, at } = attemptThat(failing(), failing(), last);
    expect(await outcome(withRetries(attempt, { maxRetries: 2, signal }))).toBe(last);
    expect(at).toHaveLength(3);
  });

  it.each([
    ["errors that stay", failing(undefined, false)],
    ["errors of other kinds", new TypeError("a bug")],
  ])("throws %s at once", async (_, error) => {
    const { attempt, at } = attemptThat(error);
    expect(await outcome(withRetries(attempt, { maxRetries: 3, signal }))).toBe(error);
    expect(at).toHaveLength(1);
  });

  it("leaves no listener at the signal after a wait", async () => {
    const { signal } = new AbortController();
    const listeners = { add: vi.spyOn(signal, "addEventListener"), remove: vi.spyOn(signal, "removeEventListener") };
    const { attempt } = attemptThat(failing(), failing());
    await outcome(withRetries(attempt, { maxRetries: 2, signal }));
    expect(listeners.add.mock.calls).toHaveLength(2);
    expect(listeners.remove.mock.calls).toEqual(listeners.add.mock.calls);
  });

  it.each(["before", "during"])("stops waiting when the signal aborts %s the wait", async (when) => {
    const controller = new AbortController();
    const { attempt, at } = attemptThat(failing(30_000));
    const work = withRetries(
      () => {
        if (when === "before") controller.abort("enough");
        return attempt();
      },
      { maxRetries: 3, signal: controller.signal },
    ).catch((error: unknown) => ({ error, after: Date.now() }));
    const start = Date.now();
    await vi.advanceTimersByTimeAsync(1_000);
    controller.abort("enough");
    await vi.runAllTimersAsync();
    expect(await work).toEqual({ error: "enough", after: start + (when === "before" ? 0 : 1_000) });
    expect(at).toHaveLength(1);
  });
});
