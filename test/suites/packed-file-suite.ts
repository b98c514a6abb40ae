import fc from "fast-check";
import { expect, it } from "vitest";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import type { Tokenizer } from "#sdk/runtime/tokenizer/tokenizer.ts";
import { refusal } from "../fixtures/refusal.ts";
import { runs } from "../fixtures/sampled.ts";
import { seeded } from "../fixtures/seeded.ts";

interface Damage {
  readonly vocabulary: number;
  /** One of the added tokens in tokenizer.json. It is part of every encoded text. */
  readonly added: string;
  /** About half of the damaged files have at most `changes` changed bytes, anywhere in the file. */
  readonly changes: number;
  /** The other damaged files have at most 4 changed bytes, all within the first `headerBytes` bytes of the file. */
  readonly headerBytes: number;
  readonly maxTokens: number;
}

/** Tests that a damaged file is either refused, or gives only token ids below the vocabulary size. */
export function testDamage(
  file: Uint8Array<ArrayBuffer>,
  { vocabulary, added, changes, headerBytes, maxTokens }: Damage,
): void {
  it("refuses a file that is cut short anywhere", () => {
    fc.assert(
      fc.property(fc.nat(file.length - 1), (length) => {
        expect(refusal(() => createPackedTokenizer(file.slice(0, length), vocabulary))).toBe("tokenizer_invalid");
      }),
      seeded(runs(60, 300)),
    );
  });

  it("refuses a damaged file, or answers with ids of the vocabulary", () => {
    const byte = fc.nat(255);
    const damage = fc.array(fc.tuple(fc.nat(file.length - 1), byte), { minLength: 1, maxLength: changes });
    const inHeader = fc.array(fc.tuple(fc.nat(headerBytes), byte), { minLength: 1, maxLength: 4 });
    const outcomes = { tokenizer_invalid: 0, accepted: 0 };
    const count = runs(200, 1000);
    fc.assert(
      fc.property(fc.oneof(damage, inHeader), fc.string({ unit: "grapheme", maxLength: 50 }), (bytes, text) => {
        const copy = file.slice();
        for (const [at, byte] of bytes) copy[at] = byte;
        const outcome = refusal(() => {
          const { ids } = createPackedTokenizer(copy, vocabulary).encode(`to be ${text} ${added}`, maxTokens);
          expect(ids.every((id) => id >= 0 && id < vocabulary)).toBe(true);
        });
        outcomes[outcome as keyof typeof outcomes]++;
      }),
      seeded(count),
    );
    expect(outcomes.tokenizer_invalid).toBeGreaterThan(count / 10);
    expect(outcomes.accepted).toBeGreaterThan(count / 10);
    expect(Object.keys(outcomes)).toHaveLength(2);
  });
}

/** Length of a text in characters. Quadratic algorithms take more than half a minute for this length. */
const LONG_TEXT = 250_000;
const MAX_CPU_MS = 2_000;

/** Tests that long texts are encoded quickly. Each text repeats one of `units`. */
export function testLongTexts({ encode }: Tokenizer, units: readonly string[]): void {
  it("encodes long texts in time that is nearly linear in their length", () => {
    for (const unit of units) {
      const start = process.cpuUsage();
      encode(unit.repeat(LONG_TEXT / unit.length), 512);
      expect(process.cpuUsage(start).user / 1000).toBeLessThan(MAX_CPU_MS);
    }
  });
}
