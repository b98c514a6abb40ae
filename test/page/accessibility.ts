import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** Returns the serious and critical faults that axe-core finds on a page. */
export async function seriousFaults(page: Page): Promise<string[]> {
  // The page's policy forbids script elements, but not what the browser's debugger evaluates.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
