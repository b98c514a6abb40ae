import { addedContents } from "./characters.ts";

/** Added tokens with all sixteen combinations of flags; each token has its own text. */
export const allKinds = addedContents.concat("xy", "yx").map((content, i) => ({
  id: 40_000 + i,
  content,
  normalized: (i & 1) > 0,
  single_word: (i & 2) > 0,
  lstrip: (i & 4) > 0,
  rstrip: (i & 8) > 0,
  special: false,
}));
