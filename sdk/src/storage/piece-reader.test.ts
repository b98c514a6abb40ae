import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "../../../test/suites/seeded.ts";
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
  ["a stream of anything", plain],
  ["a stream that takes buffers", ofBytes],
])("a reader of %s", (_, streamOf) => {
  it("reads all of it, in order", async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (pieces) => {
        expect(Buffer.compare(await readAll(streamOf(pieces)), Buffer.concat(pieces))).toBe(0);
      }),
      seeded(50),
    );
  });
});

it("a stream that takes buffers is always given the same one", async () => {
  const reader = pieceReader(ofBytes([new Uint8Array(1_000_000)]));
  const views = new Set<number>();
  let reads = 0;
  for (let done = false; !done; reads++) {
    const result = await reader.read();
    done = result.done;
    views.add(result.value?.buffer.byteLength ?? 0);
  }
  expect(reads).toBeGreaterThan(3);
  expect(views.size).toBe(1);
});
