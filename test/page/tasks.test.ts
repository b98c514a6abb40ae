import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Task } from "#sdk/artifact/manifest.ts";
import { errorLog } from "../fixtures/error-log.ts";
import { isSkipped, launch, newestRequest, openPage } from "./in-chromium.ts";
import { servedPage } from "./served-page.ts";

errorLog();

const classify: Task = { task: "classify", input: "text", labels: ["negative", "neutral", "positive"] };
const crossEncoder: Task = { task: "classify", input: "pair", labels: ["LABEL_0"] };
const tags: Task = { task: "tag", labels: ["O", "B-PER", "I-PER"] };
const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };

describe.skipIf(isSkipped)("the page of a model", () => {
  let chrome: Browser;
  beforeAll(async () => {
    chrome = await launch();
  });
  afterAll(() => chrome?.close());

  async function onPage(task: Task, visit: (page: Page) => Promise<void>): Promise<void> {
    const { page, faults } = await openPage(chrome, await servedPage(task));
    await visit(page);
    expect(faults).toEqual([]);
  }

  it("classifies", () =>
    onPage(classify, async (page) => {
      expect(await page.locator("#search, #similarity").filter({ visible: true }).count()).toBe(0);
      await page.getByRole("button", { name: "Classify" }).click();
      await expect.poll(() => page.locator("#labels li").count()).toBe(3);
      expect(await page.locator("#labels").textContent()).toMatch(/(negative|neutral|positive) [01]\.\d{3}/);
      await page.getByRole("button", { name: "Send" }).click();
      await expect.poll(() => page.locator("#crowd-state").textContent()).toBe("edge: 1");
    }));

  it("reranks", () =>
    onPage(crossEncoder, async (page) => {
      await page.getByLabel("Query").fill("bread");
      await expect.poll(() => page.locator("#found li").count()).toBe(5);
      await expect.poll(() => newestRequest(page)).toMatch(/rerank\s+\d+\s+edge/);
    }));

  it("waits while the deployment loads its model, and says why it gives up for other errors", async () => {
    let answers = 0;
    const before = (page: Page) =>
      page.route("**/info", async (route) => {
        if (++answers > 2) return route.continue();
        await route.fulfill({ status: 503, json: { error: { message: "The model cannot be loaded now." } } });
      });
    const { page } = await openPage(chrome, await servedPage(classify), { before, shows: "served" });
    await expect.poll(() => page.locator("#served").textContent()).toBe("The model is loading…");
    await expect.poll(() => page.locator("#app").isVisible()).toBe(true);
    await page.unroute("**/info");
    await page.route("**/info", (route) => route.fulfill({ status: 500, json: { error: { message: "It failed." } } }));
    await page.reload();
    await expect.poll(() => page.locator("#failure").textContent()).toBe("It failed.");
  });

  it("says that it has no form for other tasks", () =>
    onPage(tags, async (page) => {
      expect(await page.locator("#other-task").textContent()).toContain("no form for the task tag");
    }));

  it("says that a deployment keeps its weights", async () => {
    const { page } = await openPage(chrome, await servedPage(embed));
    await page.getByRole("button", { name: "Load the model here" }).click();
    await expect.poll(() => page.locator("#load-state").textContent()).toContain("cannot be loaded here");
    expect(await page.getByLabel("this browser").isEnabled()).toBe(false);
  });
});
