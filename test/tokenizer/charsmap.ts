import { codePointSet } from "#sdk/compile/pack/tokenizer/code-point-classes.ts";

/**
 * Builds a charsmap as SentencePiece does: first a double array of the bytes of all keys, then all results, each with a
 * zero byte at its end. `readCharsmap` describes the format.
 */
export function charsmap(results: ReadonlyMap<string, string>): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const keys = Array.from(results, ([key, result]) => ({ bytes: encoder.encode(key), result }));
  const texts = new Map<string, number>();
  let length = 0;
  for (const result of new Set(results.values())) {
    texts.set(result, length);
    length += encoder.encode(result).length + 1;
  }

  const units: number[] = [0];
  const taken = new Set([0]);
  const bases = new Set<number>();
  let free = 1;
  const place = (at: number, node: typeof keys, depth: number): void => {
    const byByte = Map.groupBy(node, ({ bytes }) => bytes[depth] ?? 0);
    const labels = [...byByte.keys()];
    while (taken.has(free)) free++;
    let base = free;
    while (bases.has(base) || labels.some((label) => taken.has(base ^ label))) base++;
    bases.add(base);
    for (const label of labels) taken.add(base ^ label);
    units[at] = (units[at] as number) | ((at ^ base) << 10) | (byByte.has(0) ? 0x100 : 0);
    for (const [label, below] of byByte) {
      if (label === 0) units[base] = 0x80000000 + (texts.get((below[0] as (typeof keys)[0]).result) as number);
      else {
        units[base ^ label] = label;
        place(base ^ label, below, depth + 1);
      }
    }
  };
  place(0, keys, 0);

  const array = Uint32Array.from({ length: units.length + 256 }, (_, i) => units[i] ?? 0);
  const blob = encoder.encode([...texts.keys()].map((text) => `${text}\0`).join(""));
  const bytes = new Uint8Array(4 + array.byteLength + blob.length);
  new DataView(bytes.buffer).setUint32(0, array.byteLength, true);
  bytes.set(new Uint8Array(array.buffer), 4);
  bytes.set(blob, 4 + array.byteLength);
  return bytes;
}

/** Unicode blocks that will not get more decompositions in newer versions of Unicode. */
const BLOCKS = [
  [0xa0, 0x24f],
  [0x340, 0x4ff],
  [0x958, 0x95f],
  [0xe33, 0xeb3],
  [0x1e00, 0x1fff],
  [0x2000, 0x206f],
  [0x2100, 0x214f],
  [0x2460, 0x24ff],
  [0x3000, 0x33ff],
  [0xf900, 0xfa6d],
  [0xfb00, 0xfbb1],
  [0xff01, 0xffee],
  [0x1d400, 0x1d7ff],
] as const;
const REMOVED = codePointSet("1-8 b e-1f 7f 8f 9f");
const BLANK = codePointSet("9-a c-d 61c 1680 200b-200c 200e-200f 2028-2029 2581 feff fffd");

/**
 * Returns SentencePiece's nmt_nfkc for some blocks: NFKC without control characters.
 *
 * @param fold whether to convert to lower case too
 */
export function nmtNfkc(fold = false): Map<string, string> {
  const results = new Map<string, string>();
  for (let point = 1; point < 0x20000; point++) {
    const character = String.fromCodePoint(point);
    if (REMOVED.has(point)) results.set(character, "");
    else if (BLANK.has(point)) results.set(character, " ");
    else if (point < 0x80 || BLOCKS.some(([first, last]) => point >= first && point <= last)) {
      const nfkc = character.normalize("NFKC");
      const result = fold ? nfkc.toLowerCase() : nfkc;
      if (result !== character) results.set(character, result);
      const parts = character.normalize("NFD");
      if (parts !== character && parts.normalize("NFC") === character) results.set(parts, result);
    }
  }
  return results;
}
