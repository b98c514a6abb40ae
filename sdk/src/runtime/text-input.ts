/** An input that becomes one sequence: a text, or a pair of texts. */
export type TextInput = string | readonly [first: string, second: string];

export const charactersOf = (input: TextInput): number =>
  typeof input === "string" ? input.length : input[0].length + input[1].length;

export const textsOf = (input: TextInput): readonly string[] => (typeof input === "string" ? [input] : input);
