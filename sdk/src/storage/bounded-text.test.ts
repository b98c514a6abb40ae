import { describe, expect, it, vi } from "vitest";
import { serve } from "#test/fixtures/serve.ts";
import { boundedText, textUpTo } from "./bounded-text.ts";

describe("boundedText", () => {
  it.each(["", "a", "äöü€😀", "x".repeat(300_000)])("reads a whole body (%#)", async (text) => {
    const bytes = new TextEncoder().encode(text).length;
    expect(await boundedText(new Response(text), bytes)).toBe(text);
    if (text !== "") expect(await boundedText(new Response(text), bytes - 1)).toBeUndefined();
  });

  it("reads characters that are split between two pieces", async () => {
    const bytes = new TextEncoder().encode("€");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await boundedText(new Response(body), 3)).toBe("€");
  });

  it("stops reading an endless body", async () => {
    const cancel = vi.fn();
    const pull = vi.fn((controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(1_000)));
    expect(await boundedText(new Response(new ReadableStream({ pull, cancel })), 10_000)).toBeUndefined();
    expect(cancel).toHaveBeenCalled();
    expect(pull.mock.calls.length).toBeLessThan(15);
  });

  it("does not read a body that is declared as larger", async () => {
    const closed = Promise.withResolvers<void>();
    const url = await serve((_, response) => {
      response.writeHead(200, { "content-length": 1e9 });
      response.write("x");
      response.on("close", closed.resolve);
    });
    expect(await boundedText(await fetch(url), 100)).toBeUndefined();
    await closed.promise;
  });

  it("fails when the body breaks off", async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) });
    await expect(boundedText(new Response(body), 100)).rejects.toThrow("terminated");
  });
});

describe("textUpTo", () => {
  /** A stream of `count` pieces of one byte. It does not end without `ends`. */
  const drops = (count: number, ends = true) =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (count-- > 0) return controller.enqueue(Uint8Array.of(97));
        return ends ? controller.close() : new Promise(() => {});
      },
    });

  it("leaves no reaction at `late` for each piece, because the sender chooses their number", async () => {
    const late = new Promise<never>(() => {});
    const reactions = vi.spyOn(late, "then");
    expect(await textUpTo(drops(1_000), 10_000, { late })).toBe("a".repeat(1_000));
    expect(reactions).toHaveBeenCalledTimes(1);
  });

  it("ends with the error of `late`, before and during a read", async () => {
    const error = new Error("late");
    await expect(textUpTo(drops(3), 10, { late: Promise.reject(error) })).rejects.toBe(error);
    const late = Promise.withResolvers<never>();
    const text = textUpTo(drops(3, false), 10, { late: late.promise });
    await new Promise((resolve) => setImmediate(resolve));
    late.reject(error);
    await expect(text).rejects.toBe(error);
  });
});
