/** Number of parts that are joined at a time. */
const PARTS = 4096;

/** Joins parts to a text. Saves memory: with `+=`, each part would take an object of 20 bytes until the text is read. */
export interface TextBuilder {
  add(part: string): void;
  /** Returns the text of all parts. */
  end(): string;
}

export function createTextBuilder(): TextBuilder {
  const joined: string[] = [];
  let parts: string[] = [];
  return {
    add(part) {
      if (parts.push(part) < PARTS) return;
      joined.push(parts.join(""));
      parts = [];
    },
    end: () => joined.concat(parts).join(""),
  };
}
