import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { rangeHeader, rangeOf } from "./http-response.ts";

describe("rangeHeader", () => {
  it("names the last byte", () => {
    expect(rangeHeader({ begin: 10, end: 20 })).toEqual({ range: "bytes=10-19" });
  });
});

describe("rangeOf", () => {
  const whole = Uint8Array.from({ length: 200 }, (_, i) => i);

  /** A body in pieces of these sizes. */
  function inPieces(sizes: readonly number[]): ReadableStream<Uint8Array<ArrayBuffer>> {
    let at = 0;
    const pieces = [...sizes, whole.length].map((size) => {
      at += size;
      return whole.slice(at - size, at);
    });
    return new ReadableStream({
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
  }
  const read = async (response: Response, begin: number, end: number) =>
    new Uint8Array(
      await new Response(rangeOf(response, { begin, end }) as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer(),
    );

  it("takes a range out of the whole object, if the server ignores ranges", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 });
    const ends = fc.tuple(fc.nat(200), fc.nat(200)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    await fc.assert(
      fc.asyncProperty(sizes, ends, async (sizes, [begin, end]) => {
        expect(await read(new Response(inPieces(sizes)), begin, end)).toEqual(whole.subarray(begin, end));
      }),
      seeded(100),
    );
  });

  it("passes a part on as the server sends it", async () => {
    expect(await read(new Response(whole, { status: 206 }), 10, 20)).toEqual(whole);
  });
});
