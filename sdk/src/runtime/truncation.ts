/** End of a text at which tokens are cut. */
export type Side = "left" | "right";

/** End at which inputs that are too long are cut. `true` is the end that the model's tokenizer cuts; `false` refuses such inputs. */
export type Truncation = boolean | Side;

/** Returns the end at which a call cuts inputs that are too long. */
export const sideOf = (truncate: Truncation, { side }: { readonly side: Side }): Side =>
  typeof truncate === "string" ? truncate : side;

export const isTruncation = (value: unknown): value is Truncation =>
  typeof value === "boolean" || value === "left" || value === "right";
