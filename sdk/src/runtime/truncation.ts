/** End of a text at which tokens are cut. */
export type Side = "left" | "right";

/** Whether inputs that are too long are cut, and where: `true` stands for `right`, their end. Otherwise they are refused. */
export type Truncation = boolean | Side;

export const sideOf = (truncate: Truncation): Side => (truncate === "left" ? "left" : "right");
