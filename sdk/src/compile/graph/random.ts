import type { Node } from "./node.ts";

const random = /^(Random(Normal|Uniform)(Like)?|Multinomial|Bernoulli)$/;

/** Whether a node may compute something else each time, so that it can neither be computed in advance nor merged. */
export const isRandom = ({ opType }: Node): boolean => random.test(opType) || opType === "Dropout";
