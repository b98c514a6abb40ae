import type { PrepareReport } from "../compile/commands/prepare.ts";

/** What a user has to change for targets that a faster engine could not take, and why: a line or two each. */
export const passedOver = ({ manifest: { targets }, passedOver: engines }: PrepareReport): string[] =>
  engines.map(({ target, engine, why }) => {
    const taken = targets[target]?.engine;
    return `${target} is for ${taken}, not for ${engine}: ${why}\n  Deploy functions/${target}-${taken}.ts for it.`;
  });
