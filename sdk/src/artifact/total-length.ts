/** Returns the length of all items together: characters of texts, tokens of sequences, bytes of arrays. */
export const totalLength = (items: readonly { readonly length: number }[]): number =>
  items.reduce((sum, { length }) => sum + length, 0);
