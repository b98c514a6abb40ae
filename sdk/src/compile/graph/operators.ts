import type { Node } from "./node.ts";

/** Operators that change only the shape: the same elements in the same order. */
export const reshapeOperators: readonly string[] = ["Reshape", "Squeeze", "Unsqueeze", "Flatten"];

/** Whether a node returns its first input's elements in the same order, in any shape. */
export const isView = ({ opType, domain }: Node): boolean =>
  domain === "" && (opType === "Identity" || reshapeOperators.includes(opType));

const random = /^(Random(Normal|Uniform)(Like)?|Multinomial|Bernoulli|Dropout)$/;

/** Whether a node's result is random. A random node is neither computed in advance nor merged with an equal node. */
export const isRandom = ({ opType }: Node): boolean => random.test(opType);
