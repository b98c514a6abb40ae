/** Returns the added tokens of RoBERTa and XLM-RoBERTa. The two models differ in which tokens are normalized. */
export const robertaSpecials = (isNormalized: (content: string) => boolean) =>
  ["<s>", "<pad>", "</s>", "<unk>", "<mask>"].map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: content === "<mask>",
    rstrip: false,
    normalized: isNormalized(content),
    special: true,
  }));
