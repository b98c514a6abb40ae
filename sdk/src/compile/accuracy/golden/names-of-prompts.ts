/** Returns the names of the prompts that change texts. Those of a search are often empty. */
export const namesOfPrompts = (prompts: Readonly<Record<string, string>> = {}): string[] =>
  Object.keys(prompts).filter((name) => prompts[name] !== "");
