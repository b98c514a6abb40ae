import { expect, it } from "vitest";
import { isSkipped, launch, openPage } from "./in-chromium.ts";
import { servedPage } from "./served-page.ts";

/** Adds a script to the page, which changes the page's title if it runs. */
const INJECTING = `document.body.append(Object.assign(document.createElement("script"), { textContent: "document.title = 'injected'" }));
document.title`;

it.skipIf(isSkipped)("/docs shows the routes and sends their examples, with its own script alone", async () => {
  await using chrome = await launch();
  const origin = await servedPage(
    { task: "embed", pooling: "mean", normalize: true, dimensions: 8 },
    { keys: ["the-key"] },
  );
  const { page, faults } = await openPage(chrome, `${origin}/docs`, { shows: "routes" });
  await page.getByLabel("API key").fill("the-key");
  const route = page.locator("details", { hasText: "POST /v1/embed " }).first();
  await route.getByRole("button", { name: "Send" }).click();
  await expect.poll(() => route.getByRole("status").textContent()).toMatch(/^200 in \d+ ms, tier edge\n/);
  // A field that is only refused, such as Cohere's `texts`, is none of the route's.
  const fields = await route.locator("td:first-child").allTextContents();
  expect(fields).toEqual(expect.arrayContaining(["inputs", "truncate?", "latency_budget_ms?"]));
  expect(fields).not.toContain("texts?");
  expect(await route.locator("td:nth-child(2)").filter({ hasText: "null" }).count()).toBe(0);
  expect(faults).toEqual([]);

  expect(await page.evaluate(INJECTING)).toBe("bert-edge: HTTP interface");
  expect(faults).toEqual([expect.stringContaining("Content Security Policy")]);
});
