import type { PrepareReport } from "../compile/commands/prepare.ts";

/** Lists targets that the preferred engine could not run: why, and what to deploy instead. */
export const passedOver = ({ manifest: { targets }, passedOver: engines }: PrepareReport): string[] =>
  engines.map(({ target, engine, why }) => {
    const taken = targets[target]?.engine;
    return `${target} uses ${taken} instead of ${engine}: ${why}\n  Deploy functions/${target}-${taken}.ts for it.`;
  });
