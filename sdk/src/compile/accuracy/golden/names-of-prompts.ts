/**
 * Returns the names of the prompts that are not empty. An empty prompt changes no text. Models often have an empty prompt for queries or
 * documents.
 */
export const namesOfPrompts = (prompts: Readonly<Record<string, string>> = {}): string[] =>
  Object.keys(prompts).filter((name) => prompts[name] !== "");
