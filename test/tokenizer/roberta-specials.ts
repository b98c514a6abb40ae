/** The added tokens of RoBERTa's kind and of XLM-R's, which differ in what is normalized. */
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
