import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { pieceReader } from "./piece-reader.ts";

const pieces = fc
  .array(fc.nat(600_000), { maxLength: 6 })
  .map((sizes) => sizes.map((size, i) => new Uint8Array(size).fill(i + 1)));

const plain = (pieces: readonly Uint8Array[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

const ofBytes = (pieces: readonly Uint8Array[]) =>
  new ReadableStream<Uint8Array>({
    type: "bytes",
    start(controller) {
      for (const piece of pieces) if (piece.length) controller.enqueue(piece.slice());
      controller.close();
    },
  });

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const reader = pieceReader(stream);
  const read: Buffer[] = [];
  for (let done = false; !done; ) {
    const result = await reader.read();
    if (result.value) read.push(Buffer.from(result.value));
    done = result.done;
  }
  return Buffer.concat(read);
}

describe.each([
  ["a default stream", plain],
  ["a byte stream", ofBytes],
])("pieceReader of %s", (_, streamOf) => {
  it("reads all bytes in order", async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (pieces) => {
        expect(Buffer.compare(await readAll(streamOf(pieces)), Buffer.concat(pieces))).toBe(0);
      }),
      seeded(50),
    );
  });
});

it("passes the same buffer to a byte stream again", async () => {
  const reader = pieceReader(ofBytes([new Uint8Array(1_000_000)]));
  const { value: first } = await reader.read();
  expect(first?.length).toBeGreaterThan(0);
  const { value: second } = await reader.read();
  expect(second?.length).toBeGreaterThan(0);
  // The first view is empty, because its buffer was transferred for the second read.
  expect(first?.length).toBe(0);
});
