/** Spelling of a token that stands for one byte, such as `<0x0A>`. */
const BYTE = /^<0x([0-9A-F]{2})>$/;

/** Returns the spelling of the token that stands for a byte. */
export const bytePiece = (byte: number): string => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;

/** Joins neighbouring tokens of bytes to one text. If the bytes of a run are not UTF-8, each byte becomes U+FFFD. */
export function withBytes(spellings: readonly string[]): string[] {
  const texts: string[] = [];
  let bytes: number[] = [];
  const endBytes = () => {
    if (bytes.length > 0) texts.push(textOfBytes(Uint8Array.from(bytes)));
    bytes = [];
  };
  for (const spelling of spellings) {
    const [, byte] = BYTE.exec(spelling) ?? [];
    if (byte !== undefined) bytes.push(Number.parseInt(byte, 16));
    else {
      endBytes();
      texts.push(spelling);
    }
  }
  endBytes();
  return texts;
}

function textOfBytes(bytes: Uint8Array<ArrayBuffer>): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "\ufffd".repeat(bytes.length);
  }
}
