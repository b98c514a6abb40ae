import { describe, expect, it } from "vitest";
import { latch } from "#test/fixtures/tiny-model.ts";
import { firstAnswer } from "./run-here.ts";

const never = () => new Promise<never>(() => {});
const failing = (message: string) => () => Promise.reject(new Error(message));

const first = <T>(ways: Parameters<typeof firstAnswer<T>>[0]) =>
  firstAnswer(ways, { signal: undefined, onLeft: () => {} });

describe("firstAnswer", () => {
  it("hands over both ways, because the slower one goes on for a while", async () => {
    const left: Promise<unknown>[] = [];
    const ways = { elsewhere: async () => "there", here: never };
    await firstAnswer(ways, { signal: undefined, onLeft: (work) => left.push(work) });
    expect(left).toHaveLength(2);
  });

  it("returns the answer that comes first, and stops the other way", async () => {
    const signals: AbortSignal[] = [];
    const waiting = (signal: AbortSignal) => {
      signals.push(signal);
      return never();
    };
    expect(await first({ elsewhere: async () => "there", here: waiting })).toBe("there");
    expect(await first({ elsewhere: waiting, here: async () => "here" })).toBe("here");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it("asks elsewhere, and lets the request leave, before it occupies the thread", async () => {
    const order: string[] = [];
    await first({
      elsewhere: () => {
        order.push("asked");
        setImmediate(() => order.push("left"));
        return never();
      },
      here: async () => order.push("computed"),
    });
    expect(order).toEqual(["asked", "left", "computed"]);
  });

  it.each([
    ["fails", failing("down")],
    ["has no answer", async () => undefined],
  ])("waits for its own answer when the other way %s", async (_, elsewhere) => {
    const done = latch();
    const fails = () => {
      setImmediate(done.resolve);
      return elsewhere();
    };
    expect(await first({ elsewhere: fails, here: () => done.promise.then(() => "here") })).toBe("here");
  });

  it("waits for the other answer when its own way fails", async () => {
    const done = latch();
    const here = () => {
      setImmediate(done.resolve);
      return Promise.reject(new Error("no memory"));
    };
    expect(await first({ elsewhere: () => done.promise.then(() => "there"), here })).toBe("there");
  });

  it("throws its own error when both ways fail", async () => {
    const ways = { elsewhere: failing("down"), here: failing("no memory") };
    await expect(first(ways)).rejects.toThrow("no memory");
  });

  it("stops both ways when the caller goes", async () => {
    const caller = new AbortController();
    const signals: AbortSignal[] = [];
    const until = (signal: AbortSignal) => {
      if (signals.push(signal) === 2) setImmediate(() => caller.abort());
      return new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const answer = firstAnswer({ elsewhere: until, here: until }, { signal: caller.signal, onLeft: () => {} });
    await expect(answer).rejects.toThrow("aborted");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});
