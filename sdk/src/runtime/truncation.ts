/** End of a text at which tokens are cut. */
export type Side = "left" | "right";

/** Whether inputs that are too long are cut, and where: `true` stands for the side of the model's tokenizer. Otherwise they are refused. */
export type Truncation = boolean | Side;

/** Returns where a call cuts inputs that are too long. */
export const sideOf = (truncate: Truncation, { side }: { readonly side: Side }): Side =>
  typeof truncate === "string" ? truncate : side;

export const isTruncation = (value: unknown): value is Truncation =>
  typeof value === "boolean" || value === "left" || value === "right";
