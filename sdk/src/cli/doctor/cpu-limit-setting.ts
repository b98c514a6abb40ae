/** The setting `cpuLimitMs` of a project: in ms, or as text if only running it would tell its value. */
export type CpuLimitSetting = number | { readonly unread: string };

/** Reads `cpuLimitMs` from the text of edge-settings.ts: a number, or a product of numbers. Returns undefined without it. */
export function cpuLimitSetting(settings: string): CpuLimitSetting | undefined {
  const expression = /^\s*cpuLimitMs:[ \t]*(.*?)[ \t]*(?:,?[ \t]*\/[/*].*|,?[ \t]*)$/m.exec(settings)?.[1];
  if (expression === undefined) return undefined;
  const factors = expression
    .split("*")
    .map((factor) => Number(factor.trim().replace(/(?<=\d)_(?=\d)/g, "") || Number.NaN));
  const product = factors.reduce((all, factor) => all * factor, 1);
  return Number.isFinite(product) ? product : { unread: expression };
}
