import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { waitFor } from "#test/fixtures/wait-for.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { receive } from "./receive.ts";
import type { ObjectStore } from "./store.ts";

const TIMEOUT_MS = 20;
const storeThat = (open: ObjectStore["open"]): ObjectStore => ({ name: "far", timeoutMs: TIMEOUT_MS, open });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns the error that a transfer rejects with after the store's time limit. */
async function whenLate(transfer: Promise<unknown>): Promise<unknown> {
  const error = transfer.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
  return error;
}
const isLate = expect.objectContaining({
  code: "storage_unavailable",
  message: expect.stringContaining("reading took longer than 20 ms"),
});

type Source = UnderlyingDefaultSource<Uint8Array> | UnderlyingByteSource;

/**
 * Returns a store with one object: it delivers one byte, then calls `pull`. `cancel` records that reading was stopped.
 */
function sourceThat(pull: () => Promise<void>, type?: "bytes") {
  const cancel = vi.fn();
  let pulled = 0;
  const source = {
    type,
    cancel,
    async pull(controller: ReadableByteStreamController) {
      if (pulled++ > 0) return pull();
      controller.enqueue(Uint8Array.of(1));
    },
  } as Source as UnderlyingByteSource;
  let signal: AbortSignal | undefined;
  const store = storeThat(async (_, given) => {
    signal = given;
    return new ReadableStream(source);
  });
  return { store, cancel, aborted: () => signal?.aborted };
}

const never = () => new Promise<never>(() => {});
const unsupported = () => {
  throw new TypeError("no buffers here");
};
const collect = () => {
  const got: number[] = [];
  return { got, deliver: async (piece: Uint8Array) => void got.push(...piece) };
};

describe("receive", () => {
  it("returns false and delivers nothing when there is no object", async () => {
    const deliver = vi.fn();
    expect(
      await receive(
        storeThat(async () => undefined),
        "k",
        deliver,
      ),
    ).toBe(false);
    expect(deliver).not.toHaveBeenCalled();
  });

  it("waits for `deliver` before it reads the next piece", async () => {
    const order: string[] = [];
    let left = 3;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          order.push("read");
          controller.enqueue(Uint8Array.of(left));
          if (--left === 0) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    await receive(
      storeThat(async () => body),
      "k",
      async () => {
        // If `receive` did not wait for `deliver`, the next read would happen before the next turn of the event loop.
        await nextTurn();
        order.push("done");
      },
    );
    expect(order).toEqual(["read", "done", "read", "done", "read", "done"]);
  });

  it.each([
    ["does not open", { store: storeThat(never) }],
    ["stalls", sourceThat(never)],
    ["stalls in a byte stream", sourceThat(never, "bytes")],
  ])("gives up on a store that %s", async (_, { store }) => {
    expect(await whenLate(receive(store, "models/x", async () => {}))).toMatchObject({
      code: "storage_unavailable",
      message: "far could not be read or written: reading took longer than 20 ms (object models/x)",
    });
  });

  it.each([undefined, "bytes"] as const)("cancels the source (type %s) after the time limit", async (type) => {
    const { store, cancel, aborted } = sourceThat(never, type);
    expect(await whenLate(receive(store, "k", async () => {}))).toEqual(isLate);
    expect(aborted()).toBe(true);
    await waitFor(() => expect(cancel).toHaveBeenCalledTimes(1));
  });

  it("applies the time limit to the whole transfer, even while pieces keep arriving", async () => {
    const cancel = vi.fn();
    let pieces = 0;
    const endless = new ReadableStream<Uint8Array>({
      cancel,
      async pull(controller) {
        pieces++;
        await vi.advanceTimersByTimeAsync(2);
        controller.enqueue(Uint8Array.of(1));
      },
    });
    const store = storeThat(async () => endless);
    await expect(receive(store, "k", async () => {})).rejects.toEqual(isLate);
    expect(cancel).toHaveBeenCalledTimes(1);
    expect(pieces).toBeGreaterThanOrEqual(TIMEOUT_MS / 2);
  });

  it("delivers nothing more after the time limit", async () => {
    const { promise: much, resolve } = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<ReadableStream<Uint8Array>>();
    const cancel = vi.fn();
    const { got, deliver } = collect();
    const body = new ReadableStream<Uint8Array>({ cancel, pull: (controller) => controller.enqueue(Uint8Array.of(7)) });
    for (const store of [storeThat(() => opened.promise), storeThat(() => much.then(() => body))]) {
      expect(await whenLate(receive(store, "k", deliver))).toEqual(isLate);
    }
    opened.resolve(new ReadableStream({ cancel, pull: (controller) => controller.enqueue(Uint8Array.of(8)) }));
    resolve();
    await waitFor(() => expect(cancel).toHaveBeenCalledTimes(2));
    expect(got).toEqual([]);
  });

  it("delivers nothing more from a stream that continues after it was cancelled", async () => {
    const { promise, resolve } = Promise.withResolvers<{ value: Uint8Array; done: boolean }>();
    const read = vi.fn(() => promise);
    const reader = { read, cancel: async () => {} };
    const body = { getReader: (options?: object) => (options ? unsupported() : reader) };
    const { got, deliver } = collect();
    const store = storeThat(async () => body as unknown as ReadableStream<Uint8Array>);
    expect(await whenLate(receive(store, "k", deliver))).toEqual(isLate);
    resolve({ value: Uint8Array.of(7), done: false });
    await nextTurn();
    expect(read).toHaveBeenCalledTimes(1);
    expect(got).toEqual([]);
  });

  it("stops when `deliver` throws, and throws the same error", async () => {
    const { store, cancel, aborted } = sourceThat(never);
    const fault = new Error("enough");
    await expect(receive(store, "k", () => Promise.reject(fault))).rejects.toBe(fault);
    expect(aborted()).toBe(true);
    await waitFor(() => expect(cancel).toHaveBeenCalledTimes(1));
  });

  it("leaves no timer after a complete read, and does not abort it", async () => {
    const { got, deliver } = collect();
    let signal: AbortSignal | undefined;
    const store = storeThat(async (_, given) => {
      signal = given;
      return new Blob([Uint8Array.of(1, 2, 3)]).stream();
    });
    expect(await receive(store, "k", deliver)).toBe(true);
    expect(got).toEqual([1, 2, 3]);
    expect(vi.getTimerCount()).toBe(0);
    expect(signal?.aborted).toBe(false);
  });

  it.each([
    ["rejects", storeThat(() => Promise.reject(new TypeError("fetch failed")))],
    [
      "throws",
      storeThat(() => {
        throw new TypeError("fetch failed");
      }),
    ],
    ["breaks off", sourceThat(() => Promise.reject(new TypeError("fetch failed"))).store],
    ["breaks off in a byte stream", sourceThat(() => Promise.reject(new TypeError("fetch failed")), "bytes").store],
  ])("names object and reason when a store %s", async (_, store) => {
    await expect(receive(store, "models/x", async () => {})).rejects.toMatchObject({
      code: "storage_unavailable",
      message: "far could not be read or written: TypeError: fetch failed (object models/x)",
      cause: expect.any(TypeError),
    });
  });

  it("passes on a BertEdgeError that a store throws", async () => {
    const refusal = new BertEdgeError("storage_unavailable", "HTTP 403");
    await expect(
      receive(
        storeThat(() => Promise.reject(refusal)),
        "k",
        async () => {},
      ),
    ).rejects.toBe(refusal);
  });
});
