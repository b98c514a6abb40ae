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

/** The post-processor that puts these marks around texts, without its template for two texts. */
export const aroundOneText = {
  type: "TemplateProcessing",
  single: [
    { SpecialToken: { id: "<s>", type_id: 0 } },
    { Sequence: { id: "A", type_id: 0 } },
    { SpecialToken: { id: "</s>", type_id: 0 } },
  ],
  special_tokens: {
    "<s>": { id: "<s>", ids: [0], tokens: ["<s>"] },
    "</s>": { id: "</s>", ids: [2], tokens: ["</s>"] },
  },
};
