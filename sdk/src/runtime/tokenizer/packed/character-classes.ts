/** Word characters that are newer than Unicode 16. Rust's regex crate has Unicode 16 and does not match them. */
const LATER = `
  88f c5c cdc 1acf-1add 1ae0-1aeb a7ce-a7cf a7d2 a7d4 a7f1 10940-10959 10ec5-10ec7 10efa-10efb 11b60-11b67
  11db0-11ddb 11de0-11de9 16ea0-16eb8 16ebb-16ed3 16ff2-16ff6 187f8-187ff 18d09-18d1e 18d80-18df2 1e6c0-1e6de
  1e6e0-1e6f5 1e6fe-1e6ff 2b73a-2b73f 2cea2-2cead 323b0-33479
`;

const later = LATER.replace(/[^\s-]+/g, String.raw`\u{$&}`).replace(/\s/g, "");
const WHITE_SPACE = /^\p{White_Space}$/u;
const WORD_CHARACTER = new RegExp(String.raw`^(?![${later}])[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$`, "u");

/** Whether a character is `\s` in Rust's regex crate. */
export const isWhiteSpace = (character: string): boolean => WHITE_SPACE.test(character);

/** Whether a character is `\w` in Rust's regex crate: a letter, mark, digit or connector. */
export const isWordCharacter = (character: string): boolean => WORD_CHARACTER.test(character);
