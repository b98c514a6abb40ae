/** Control characters, except tab and line feed. Terminals act on them, also on those from 0x80 to 0x9f. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds them.
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * Makes the control characters of a text visible: a model, a server or a file can have them in its names, and a terminal
 * would act on them. ESC becomes `\x1b`. Tab and line feed stay.
 */
export const printable = (text: string): string =>
  text.replace(CONTROL, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);

/** Escapes characters that are not ASCII, because they can look like letters of a field's name: a Cyrillic о becomes `\u{43e}`. */
export const visible = (name: string): string =>
  name.replace(/[^\0-\x9f]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);

/** Escapes the control characters that JSON leaves as they are. The parsed value stays the same. */
export const printableJson = (json: string): string =>
  json.replace(/[\x7f-\x9f]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
