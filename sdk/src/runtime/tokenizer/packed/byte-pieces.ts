/** Spelling of the token of a byte, in vocabularies that have such tokens. */
const BYTE = /^<0x([0-9A-F]{2})>$/;

/** Returns the spelling of the token of a byte. */
export const bytePiece = (byte: number): string => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;

/** Turns neighbouring tokens of bytes into one text. Bytes that are not UTF-8 become U+FFFD each. */
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
