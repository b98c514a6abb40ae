import type { PrepareReport } from "../compile/commands/prepare.ts";

/** Returns a note for each engine that was passed over: why it is not used, and which function to deploy instead. */
export const passedOver = ({ manifest: { targets }, passedOver: engines }: PrepareReport): string[] =>
  engines.map(({ target, engine, why }) => {
    const taken = targets[target]?.engine;
    return `${target} uses ${taken} instead of ${engine}: ${why}\n  Deploy functions/${target}-${taken}.ts for this target. README.md of created projects contains this file.`;
  });
