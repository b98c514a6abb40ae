import type { PrepareReport } from "../compile/commands/prepare.ts";

/** Returns a note for each target that the preferred engine could not run: why not, and what to deploy instead. */
export const passedOver = ({ manifest: { targets }, passedOver: engines }: PrepareReport): string[] =>
  engines.map(({ target, engine, why }) => {
    const taken = targets[target]?.engine;
    return `${target} uses ${taken} instead of ${engine}: ${why}\n  Deploy functions/${target}-${taken}.ts for it.`;
  });
