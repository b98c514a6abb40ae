import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { BertEdgeError } from "../artifact/error.ts";
import { receive } from "./receive.ts";
import type { ObjectStore } from "./store.ts";

const storeThat = (open: ObjectStore["open"], timeoutMs = 20): ObjectStore => ({ name: "far", timeoutMs, open });

type Source = UnderlyingDefaultSource<Uint8Array> | UnderlyingByteSource;

/** A store with one object that yields a byte and then does what `pull` does; it notes that it was told to stop. */
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
  it("says that there is no object, and delivers nothing", async () => {
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

  it("waits for what is done with a piece before it reads the next", async () => {
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
      storeThat(async () => body, 5_000),
      "k",
      async () => {
        await sleep(1);
        order.push("done");
      },
    );
    expect(order).toEqual(["read", "done", "read", "done", "read", "done"]);
  });

  it.each([
    ["does not open", { store: storeThat(never) }],
    ["stalls", sourceThat(never)],
    ["stalls in a buffer", sourceThat(never, "bytes")],
  ])("gives up a store that %s", async (_, { store }) => {
    await expect(receive(store, "models/x", async () => {})).rejects.toMatchObject({
      code: "storage_unavailable",
      message: "far could not read or write models/x: reading it took longer than 20 ms",
    });
  });

  it.each([undefined, "bytes"] as const)(
    "tells the source (%s) that nobody reads any more when it is late",
    async (type) => {
      const { store, cancel, aborted } = sourceThat(never, type);
      await expect(receive(store, "k", async () => {})).rejects.toThrow("20 ms");
      expect(aborted()).toBe(true);
      await vi.waitFor(() => expect(cancel).toHaveBeenCalledTimes(1));
    },
  );

  it("counts the whole transfer, however lively it is", async () => {
    const { store, cancel } = sourceThat(() => sleep(2));
    const endless = new ReadableStream<Uint8Array>({
      cancel,
      async pull(controller) {
        await sleep(2);
        controller.enqueue(Uint8Array.of(1));
      },
    });
    await expect(receive({ ...store, open: async () => endless }, "k", async () => {})).rejects.toThrow("20 ms");
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  it("delivers nothing of a transfer that it has given up", async () => {
    const { promise: much, resolve } = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<ReadableStream<Uint8Array>>();
    const cancel = vi.fn();
    const { got, deliver } = collect();
    const body = new ReadableStream<Uint8Array>({ cancel, pull: (controller) => controller.enqueue(Uint8Array.of(7)) });
    for (const store of [storeThat(() => opened.promise), storeThat(() => much.then(() => body))]) {
      await expect(receive(store, "k", deliver)).rejects.toMatchObject({ code: "storage_unavailable" });
    }
    opened.resolve(new ReadableStream({ cancel, pull: (controller) => controller.enqueue(Uint8Array.of(8)) }));
    resolve();
    await vi.waitFor(() => expect(cancel).toHaveBeenCalledTimes(2));
    expect(got).toEqual([]);
  });

  it("delivers nothing of a stream that goes on although it was cancelled", async () => {
    const late = vi.fn(() => sleep(40, { value: Uint8Array.of(7), done: false }));
    const reader = { read: late, cancel: async () => {} };
    const body = { getReader: (options?: object) => (options ? unsupported() : reader) };
    const { got, deliver } = collect();
    const store = storeThat(async () => body as unknown as ReadableStream<Uint8Array>);
    await expect(receive(store, "k", deliver)).rejects.toThrow("20 ms");
    await sleep(60);
    expect(late).toHaveBeenCalledTimes(1);
    expect(got).toEqual([]);
  });

  it("stops when its caller throws, and throws the same", async () => {
    const { store, cancel, aborted } = sourceThat(never);
    const fault = new Error("enough");
    await expect(receive(store, "k", () => Promise.reject(fault))).rejects.toBe(fault);
    expect(aborted()).toBe(true);
    await vi.waitFor(() => expect(cancel).toHaveBeenCalledTimes(1));
  });

  it("leaves alone what it has read to its end", async () => {
    const { got, deliver } = collect();
    let signal: AbortSignal | undefined;
    const store = storeThat(async (_, given) => {
      signal = given;
      return new Blob([Uint8Array.of(1, 2, 3)]).stream();
    });
    expect(await receive(store, "k", deliver)).toBe(true);
    expect(got).toEqual([1, 2, 3]);
    await sleep(40);
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
    ["breaks off in a buffer", sourceThat(() => Promise.reject(new TypeError("fetch failed")), "bytes").store],
  ])("names the object of a store that %s, and why", async (_, store) => {
    await expect(receive(store, "models/x", async () => {})).rejects.toMatchObject({
      code: "storage_unavailable",
      message: "far could not read or write models/x: TypeError: fetch failed",
      cause: expect.any(TypeError),
    });
  });

  it("leaves errors that a store throws on purpose as they are", async () => {
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
