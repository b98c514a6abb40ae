import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { bytesOf } from "#test/fixtures/small-artifact.ts";
import { describeFile } from "./describe-file.ts";
import { type Deliver, type Destination, fill, into } from "./fill.ts";
import { CHUNK_BYTES } from "./manifest.ts";

/** Bytes of the largest file in these tests. */
const bytesToSend = Uint8Array.from({ length: 4 * CHUNK_BYTES }, (_, i) => (i * 31 + (i >> 10)) % 256);
const content = (size: number) => bytesToSend.slice(0, size);

/** File sizes: 0, 1, 2 or 3 whole chunks, or up to 2 bytes more or less. */
const fileSize = fc
  .tuple(fc.nat(3), fc.integer({ min: -2, max: 2 }))
  .map(([chunks, more]) => Math.max(0, chunks * CHUNK_BYTES + more));

/** Sizes of the pieces that a transfer delivers: none, a part of a chunk, a whole chunk, more than two chunks. */
const pieceSizes = fc.array(
  fc.oneof(fc.constantFrom(0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, 2 * CHUNK_BYTES + 1), fc.nat(CHUNK_BYTES)),
  { minLength: 1, maxLength: 6 },
);

/** Delivers `bytes` in pieces of these sizes, then in whole chunks. Overwrites each delivered piece, as drivers do. */
const inPieces = (bytes: Uint8Array, sizes: readonly number[]) => async (deliver: Deliver) => {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = turn < sizes.length ? (sizes[turn] as number) : CHUNK_BYTES;
    const piece = bytes.slice(at, at + size);
    at += size;
    await deliver(piece);
    piece.fill(255);
  }
  return true;
};

const flipped = (bytes: Uint8Array, at: number): Uint8Array => bytes.with(at, (bytes[at] as number) ^ 1);

describe("fill", () => {
  it("fills exactly its destination, for any sizes of pieces", async () => {
    await fc.assert(
      fc.asyncProperty(fileSize, pieceSizes, async (size, sizes) => {
        const bytes = content(size);
        const memory = new Uint8Array(size + 2).fill(9);
        await fill(into(memory.subarray(1, size + 1)), await describeFile(bytes), "here", inPieces(bytes, sizes));
        expect(Buffer.compare(memory.subarray(1, size + 1), bytes)).toBe(0);
        expect([memory[0], memory[size + 1]]).toEqual([9, 9]);
      }),
      seeded(25),
    );
  });

  it("fills WebAssembly memory", async () => {
    const bytes = content(CHUNK_BYTES + 1);
    const { buffer } = new WebAssembly.Memory({ initial: 40 });
    await fill(into(new Uint8Array(buffer, 64, bytes.length)), await describeFile(bytes), "here", inPieces(bytes, [5]));
    expect(Buffer.compare(new Uint8Array(buffer, 64, bytes.length), bytes)).toBe(0);
  });

  it("fills WebAssembly memory that grows during the transfer", async () => {
    const bytes = content(3 * CHUNK_BYTES);
    const memory = new WebAssembly.Memory({ initial: 49 });
    const destination: Destination = {
      bytes: () => new Uint8Array(memory.buffer, 64, bytes.length),
      checked: () => void memory.grow(1),
    };
    await fill(destination, await describeFile(bytes), "here", inPieces(bytes, [CHUNK_BYTES / 4]));
    expect(memory.buffer.byteLength).toBe(52 * 65_536);
    expect(Buffer.compare(destination.bytes(), bytes)).toBe(0);
  });

  it("reports every chunk that matches its hash, and no other", async () => {
    const bytes = content(2 * CHUNK_BYTES + 5);
    const file = await describeFile(bytes);
    const toldOf = async (sent: Uint8Array) => {
      const told: number[] = [];
      const destination = { ...into(new Uint8Array(bytes.length)), checked: (count: number) => void told.push(count) };
      const outcome = await refusalOf(fill(destination, file, "x", inPieces(sent, [CHUNK_BYTES / 2])));
      return { told, outcome };
    };
    const all = [CHUNK_BYTES, 2 * CHUNK_BYTES, bytes.length];
    expect(await toldOf(bytes)).toEqual({ told: all, outcome: "accepted" });
    for (const [chunk, at] of [0, CHUNK_BYTES, 2 * CHUNK_BYTES].entries()) {
      expect(await toldOf(flipped(bytes, at))).toEqual({ told: all.slice(0, chunk), outcome: "artifact_corrupt" });
    }
  });

  it("stops when `checked` throws", async () => {
    const bytes = content(4 * CHUNK_BYTES);
    let delivered = 0;
    const destination: Destination = {
      ...into(new Uint8Array(bytes.length)),
      checked() {
        throw new Error("no longer needed");
      },
    };
    const transfer = inPieces(bytes, [CHUNK_BYTES]);
    const filling = fill(destination, await describeFile(bytes), "x", (deliver) =>
      transfer(async (piece) => {
        await deliver(piece);
        delivered++;
      }),
    );
    await expect(filling).rejects.toThrow("no longer needed");
    expect(delivered).toBe(1);
  });

  it("awaits `turn` after every piece", async () => {
    const bytes = content(10);
    const turns: number[] = [];
    let pieces = 0;
    const destination = {
      ...into(new Uint8Array(10)),
      turn: () => new Promise<void>((resolve) => setImmediate(() => resolve(void turns.push(pieces)))),
    };
    await fill(destination, await describeFile(bytes), "x", async (deliver) => {
      for (; pieces < 5; pieces++) await deliver(bytes.subarray(2 * pieces, 2 * pieces + 2));
      return true;
    });
    expect(turns).toEqual([0, 1, 2, 3, 4]);
  });

  it("finds one flipped bit anywhere, names its chunk, and reads at most one more chunk", async () => {
    await fc.assert(
      fc.asyncProperty(fileSize, fc.nat(), pieceSizes, async (size, seed, sizes) => {
        fc.pre(size > CHUNK_BYTES);
        const [bytes, at] = [content(size), seed % size];
        const from = at - (at % CHUNK_BYTES);
        const to = Math.min(from + CHUNK_BYTES, size);
        let delivered = 0;
        const transfer = inPieces(flipped(bytes, at), sizes);
        const filling = fill(into(new Uint8Array(size)), await describeFile(bytes), "models/x", (deliver) =>
          transfer(async (piece) => {
            await deliver(piece);
            delivered += piece.length;
          }),
        );
        await expect(filling).rejects.toMatchObject({
          code: "artifact_corrupt",
          message: `models/x does not match its SHA-256 in bytes ${from} to ${to - 1}.`,
        });
        expect(delivered).toBeLessThan(to + CHUNK_BYTES);
      }),
      seeded(25),
    );
  });

  it("refuses a file that is too short or too long, in any pieces", async () => {
    await fc.assert(
      fc.asyncProperty(fileSize, fc.nat(), pieceSizes, async (size, seed, sizes) => {
        const bytes = content(size + 1);
        const file = await describeFile(bytes.subarray(0, size));
        const filling = (sent: Uint8Array) => fill(into(new Uint8Array(size)), file, "x", inPieces(sent, sizes));
        await expect(filling(bytes)).rejects.toMatchObject({ message: `x has more than ${size} bytes.` });
        if (size === 0) return;
        const cut = seed % size;
        await expect(filling(bytes.subarray(0, cut))).rejects.toMatchObject({
          code: "artifact_corrupt",
          message: `x has ${cut} bytes instead of ${size}.`,
        });
      }),
      seeded(25),
    );
  });

  it("checks every bit of a file without chunk hashes", async () => {
    const sized = fc.uint8Array({ minLength: 1, maxLength: 64 });
    await fc.assert(
      fc.asyncProperty(sized, fc.nat(), async (bytes, seed) => {
        const { sha256, size } = await describeFile(new Uint8Array(bytes));
        const filling = (sent: Uint8Array) =>
          fill(into(new Uint8Array(size)), { sha256, size }, "here", inPieces(sent, [1, 0, 3]));
        expect(await refusalOf(filling(bytes))).toBe("accepted");
        expect(await refusalOf(filling(flipped(bytes, seed % size)))).toBe("artifact_corrupt");
      }),
      seeded(50),
    );
  });

  it("checks that an empty file is meant to be empty", async () => {
    const { sha256 } = await describeFile(bytesOf("abc"));
    const filling = fill(into(new Uint8Array()), { sha256, size: 0 }, "here", inPieces(new Uint8Array(), []));
    expect(await refusalOf(filling)).toBe("artifact_corrupt");
  });

  it("hashes a chunk while the next one is transferred", async () => {
    const bytes = content(3 * CHUNK_BYTES);
    const file = await describeFile(bytes);
    const checked: number[] = [];
    const destination = { ...into(new Uint8Array(bytes.length)), checked: (count: number) => checked.push(count) };
    await fill(destination, file, "here", async (deliver) => {
      await deliver(bytes.subarray(0, CHUNK_BYTES));
      await deliver(bytes.subarray(CHUNK_BYTES, 2 * CHUNK_BYTES - 1));
      // A hash arrives in a later turn of the event loop.
      expect(checked).toEqual([]);
      await deliver(bytes.subarray(2 * CHUNK_BYTES - 1));
      expect(checked).toEqual([CHUNK_BYTES, 2 * CHUNK_BYTES]);
      return true;
    });
    expect(checked).toEqual([CHUNK_BYTES, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES]);
  });

  it("names the wrong chunk of a file that also ends too early", async () => {
    const bytes = content(3 * CHUNK_BYTES);
    const sent = flipped(bytes, 0).subarray(0, CHUNK_BYTES + 1);
    await expect(
      fill(into(new Uint8Array(bytes.length)), await describeFile(bytes), "x", inPieces(sent, [])),
    ).rejects.toMatchObject({ message: `x does not match its SHA-256 in bytes 0 to ${CHUNK_BYTES - 1}.` });
  });

  it.each([
    ["is right", content(2 * CHUNK_BYTES)],
    ["is wrong, without an unhandled rejection", flipped(content(2 * CHUNK_BYTES), 0)],
  ])("throws the error of a transfer that fails after a chunk that %s", async (_, sent) => {
    const unheard = vi.fn();
    process.on("unhandledRejection", unheard);
    const digest = vi.spyOn(crypto.subtle, "digest");
    onTestFinished(() => {
      digest.mockRestore();
      process.off("unhandledRejection", unheard);
    });
    const file = await describeFile(content(2 * CHUNK_BYTES));
    digest.mockClear();
    const filling = fill(into(new Uint8Array(file.size)), file, "x", async (deliver) => {
      await deliver(sent.subarray(0, CHUNK_BYTES + 1));
      // Waits until the chunk is checked and its error, if any, was thrown.
      await Promise.all(digest.mock.results.map(({ value }) => value));
      await nextTurn();
      throw new Error("the line is dead");
    });
    await expect(filling).rejects.toThrow("the line is dead");
    expect(digest).toHaveBeenCalledTimes(1);
    expect(unheard).not.toHaveBeenCalled();
  });

  it.each([
    ["missing", () => Promise.resolve(false), "models/x is missing."],
    ["too short", inPieces(bytesOf("ab"), []), "models/x has 2 bytes instead of 3."],
    ["too long", inPieces(bytesOf("abcd"), []), "models/x has more than 3 bytes."],
    ["changed", inPieces(bytesOf("abd"), []), "models/x does not match its SHA-256."],
  ])("names a file that is %s, and says what to do", async (_, transfer, message) => {
    await expect(
      fill(into(new Uint8Array(3)), await describeFile(bytesOf("abc")), "models/x", transfer),
    ).rejects.toMatchObject({
      name: "BertEdgeError",
      code: "artifact_corrupt",
      message,
      hint: expect.stringMatching(message.includes("missing") ? /restore/i : /--verify/),
    });
  });

  it.each([2, 4])("refuses a destination of %d bytes for a file of 3, and transfers nothing", async (length) => {
    const transfer = vi.fn();
    const filling = fill(into(new Uint8Array(length)), await describeFile(bytesOf("abc")), "x", transfer);
    await expect(filling).rejects.toMatchObject({
      code: "buffer_invalid",
      message: `x has 3 bytes, but the buffer for the file has ${length}.`,
    });
    expect(transfer).not.toHaveBeenCalled();
  });
});
