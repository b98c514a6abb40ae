/** An input that a model reads at once: a text, or two texts in one sequence. */
export type TextInput = string | readonly [first: string, second: string];

export const charactersOf = (input: TextInput): number =>
  typeof input === "string" ? input.length : input[0].length + input[1].length;

export const textsOf = (input: TextInput): readonly string[] => (typeof input === "string" ? [input] : input);
