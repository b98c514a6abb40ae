import type { SeededChoice } from "./choose.ts";

/** Lengths and offsets that parsers often forget. */
const WORDS = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff];

/** Cuts a file, or changes, removes or repeats some of its bytes. Half of the changes are near its beginning. */
export function damagedBytes(sound: Uint8Array, choice: SeededChoice): Uint8Array<ArrayBuffer> {
  if (choice.below(12) === 0) return sound.slice(0, choice.below(sound.length + 1)) as Uint8Array<ArrayBuffer>;
  let bytes: Uint8Array<ArrayBuffer> = Uint8Array.from(sound);
  for (let count = 1 + choice.below(4); count > 0 && bytes.length > 8; count--) {
    const near = choice.below(2) ? Math.min(bytes.length, 256) : bytes.length;
    const place = choice.below(near - 4);
    switch (choice.below(5)) {
      case 0:
        bytes[place] = choice.below(256);
        break;
      case 1:
        bytes[place] = (bytes[place] as number) ^ (1 << choice.below(8));
        break;
      case 2:
        new DataView(bytes.buffer).setUint32(place, choice.of(WORDS), choice.below(2) === 0);
        break;
      case 3: {
        const end = place + choice.below(16);
        bytes = joined(bytes.subarray(0, place), bytes.subarray(end));
        break;
      }
      default: {
        const end = place + choice.below(16);
        bytes = joined(bytes.subarray(0, end), bytes.subarray(place));
      }
    }
  }
  return bytes;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
