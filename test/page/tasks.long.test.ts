import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Task } from "#sdk/artifact/manifest.ts";
import { errorLog } from "../fixtures/error-log.ts";
import { isSkipped, launch, newestRequest, openPage } from "./in-chromium.ts";
import { servedPage } from "./served-page.ts";

errorLog();

const classify: Task = { task: "classify", input: "text", labels: ["negative", "neutral", "positive"] };
const crossEncoder: Task = { task: "classify", input: "pair", labels: ["LABEL_0"] };
const inference: Task = { task: "classify", input: "pair", labels: ["contradiction", "neutral", "entailment"] };
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

  /** Sends the largest request of the part Load. */
  async function sendPages(page: Page): Promise<void> {
    const sent = page.waitForRequest((request) => {
      const { inputs, documents } = (request.postDataJSON() ?? {}) as { inputs?: unknown[]; documents?: unknown[] };
      return (inputs ?? documents)?.length === 32;
    });
    await page.getByRole("combobox", { name: "Text" }).selectOption("pages");
    await page.getByRole("button", { name: "Send" }).click();
    await sent;
    await expect.poll(() => page.locator("#crowd-state").textContent()).toBe("edge: 1");
  }

  /** Runs the program for curl, which needs no key here. */
  async function runCurl(page: Page): Promise<unknown> {
    const { stdout } = await promisify(execFile)("bash", ["-c", (await page.locator("#example").textContent()) ?? ""]);
    return JSON.parse(stdout);
  }

  it("classifies", () =>
    onPage(classify, async (page) => {
      expect(await page.locator("#search, #similarity").filter({ visible: true }).count()).toBe(0);
      await page.getByRole("button", { name: "Classify" }).click();
      await expect.poll(() => page.locator("#labels li").count()).toBe(3);
      expect(await page.locator("#labels").textContent()).toMatch(/(negative|neutral|positive) [01]\.\d{3}/);
      expect(await page.getByLabel("Paired text").isVisible()).toBe(false);
      expect(await runCurl(page)).toMatchObject({ results: [expect.any(Array)] });
      await sendPages(page);
    }));

  it("classifies pairs", () =>
    onPage(inference, async (page) => {
      expect(await runCurl(page)).toMatchObject({ results: [expect.any(Array)] });
      await page.getByLabel("Paired text").fill("Nobody laughed.");
      await page.getByRole("button", { name: "Classify" }).click();
      await expect.poll(() => page.locator("#labels li").count()).toBe(3);
      await sendPages(page);
    }));

  it("compares and searches with vectors, and sends what it says", () => onPage(embed, sendPages));

  it("opens with at most five requests, whose texts fit the CPU limit", async () => {
    const refused: string[] = [];
    const asked: string[][] = [];
    const before = async (page: Page) => {
      page.on("response", (response) => void (response.ok() || refused.push(response.url())));
      page.on("request", (request) => {
        const { inputs } = (request.postDataJSON() ?? {}) as { inputs?: string[] };
        if (inputs) asked.push(inputs);
      });
    };
    const { page } = await openPage(chrome, await servedPage(embed, { cpuLimitMs: 6_000 }), { before });
    await expect.poll(() => page.locator("#similarity-rank").textContent()).toContain("more similar");
    const shown = await page.locator("#found span").count();
    expect(shown).toBeGreaterThan(1);
    expect(shown).toBeLessThan(12);
    expect(asked.map((inputs) => inputs.length).sort()).toEqual([1, 2, shown / 2, shown / 2].sort());
    expect(refused).toEqual([]);
    expect(await page.locator("#cpu-limit").textContent()).toContain("The edge has 6000 ms of CPU time for a request");
  });

  it("says where it was caused that nothing fits the CPU limit", async () => {
    const { page } = await openPage(chrome, await servedPage(embed, { cpuLimitMs: 1_050 }));
    for (const [part, act] of [
      ["similarity", async () => {}],
      ["search", async () => {}],
      ["crowd", () => page.getByRole("button", { name: "Send" }).click()],
    ] as const) {
      await act();
      await expect.poll(() => page.locator(`#${part} [role=alert]`).textContent()).toContain("1050 ms are allowed");
    }
    expect(await page.locator("[role=alert]").filter({ hasText: /\S/ }).count()).toBe(3);
  });

  it("begins with the deployment's default budget, and shows which one counted", async () => {
    const { page } = await openPage(chrome, await servedPage(embed, { defaults: { latencyBudgetMs: 90_000 } }));
    expect(await page.locator("#budget-text").textContent()).toBe("90000 ms (default)");
    // The texts' vectors, which are asked for without a budget, may come last.
    await expect.poll(() => page.locator("#requests").textContent()).toMatch(/similarity\d+ tokens, budget 90000edge/);
    await page.locator("#budget").press("End");
    expect(await page.locator("#budget-text").textContent()).toBe("none");
    await page.getByLabel("First text").fill("to be");
    await expect.poll(() => newestRequest(page)).toMatch(/^similarity\d+ tokens edge/);
  });

  it("reranks", () =>
    onPage(crossEncoder, async (page) => {
      await expect.poll(() => page.locator("#found span").count()).toBe(12);
      await expect.poll(() => newestRequest(page)).toMatch(/^rerank\d+ tokens edge/);
      expect(await page.locator("#similarity").isVisible()).toBe(false);
      expect(await runCurl(page)).toMatchObject({ results: [expect.any(Object), expect.any(Object)] });
      await sendPages(page);
    }));

  it("asks once for the vectors that it searches, also while the first answer is on its way", async () => {
    const indexing: string[] = [];
    const first = Promise.withResolvers<void>();
    const before = (page: Page) =>
      page.route("**/v1/embed", async (route) => {
        const { inputs } = route.request().postDataJSON() as { inputs: string[] };
        if (inputs.length > 2) {
          indexing.push("index");
          await first.promise;
        }
        await route.continue();
      });
    const { page, faults } = await openPage(chrome, await servedPage(embed), { before });
    // A search is sent when nothing is typed for 150 ms.
    for (const text of ["bread and", "bread and salt"]) {
      await page.getByLabel("Query").fill(text);
      await page.waitForTimeout(200);
    }
    first.resolve();
    await expect.poll(() => page.locator("#found span").count()).toBe(12);
    expect(indexing).toEqual(["index"]);
    expect(faults).toEqual([]);
  });

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
    await expect.poll(() => page.locator("main > [role=alert]").textContent()).toBe("It failed.");
  });

  it("says that it has no form for other tasks", () =>
    onPage(tags, async (page) => {
      expect(await page.locator("#other-task").textContent()).toContain("no form for the task tag");
      expect(await page.getByRole("button", { name: "Send" }).isVisible()).toBe(false);
    }));

  it("says only what is true for the deployment: no region, no weights for browsers", () =>
    onPage(embed, async (page) => {
      expect(await page.locator("#browser").isVisible()).toBe(false);
      expect(await page.locator("main").textContent()).not.toContain("region");
      expect(await page.locator("#cpu-limit").isVisible()).toBe(false);
      expect(await page.locator("#served").textContent()).toBe("tiny · sentence encoder · 8 dimensions · 64 tokens");
    }));

  describe("asks for a key", () => {
    const shows = "key";
    const [KEY, url] = ["k-1", () => servedPage(embed, { keys: ["k-1"] })];
    const enter = async (page: Page, key: string) => {
      await page.getByLabel("Key", { exact: true }).fill(key);
      await page.keyboard.press("Enter");
    };

    it.each(["ключ", "schlüssel", "two words"])("again after %j, which no header can carry", async (wrong) => {
      const { page, faults } = await openPage(chrome, await url(), { shows });
      await enter(page, wrong);
      await expect.poll(() => page.locator("#key-error").textContent()).toContain("letters, digits and signs of ASCII");
      await page.reload();
      await page.locator("#key").waitFor();
      await enter(page, KEY);
      await page.locator("#app").waitFor();
      // Chromium reports each 401 on the console.
      expect(faults.filter((fault) => !fault.includes("401"))).toEqual([]);
    });

    it.each(["%zz", "%c3%bc"])("instead of the key %s in the URL, which no header can carry", async (wrong) => {
      const { page } = await openPage(chrome, `${await url()}/#key=${wrong}`, { shows });
      await enter(page, KEY);
      await page.locator("#app").waitFor();
    });

    it("as often as it is wrong, and sends each key once", async () => {
      const { page } = await openPage(chrome, await url(), { shows });
      const asked: string[] = [];
      page.on("request", (request) => {
        if (request.url().endsWith("/info")) asked.push(request.url());
      });
      for (const wrong of ["wrong-1", "wrong-2", "wrong-3"]) {
        const refused = page.waitForResponse("**/info");
        await enter(page, wrong);
        await refused;
        await expect.poll(() => page.locator("#key-form").getAttribute("aria-busy")).not.toBe("true");
      }
      await enter(page, KEY);
      await page.locator("#app").waitFor();
      expect(asked).toHaveLength(4);
    });
  });

  it("ends at once if the deployment has no keys", async () => {
    const { page } = await openPage(chrome, await servedPage(embed, { keys: [] }), { shows: "served" });
    await expect
      .poll(() => page.locator("main > [role=alert]").textContent(), { timeout: 5_000 })
      .toContain("API_KEYS");
  });

  it.each(["o'clock", "a$(b)", "a$HOME"])("gives a program that sends the key %j", async (key) => {
    const { page } = await openPage(
      chrome,
      `${await servedPage(embed, { keys: [key] })}/#key=${encodeURIComponent(key)}`,
    );
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy" }).click();
    await expect.poll(() => page.locator("#copy-state").textContent()).toBe("Copied.");
    const program = await page.evaluate<string>("navigator.clipboard.readText()");
    const { stdout } = await promisify(execFile)("bash", ["-c", program]);
    expect(JSON.parse(stdout)).toMatchObject({ embeddings: [expect.any(Array), expect.any(Array)] });
  });

  it("forgets the numbers of texts that have changed", () =>
    onPage(embed, async (page) => {
      await expect.poll(() => page.locator("#similarity-rank").textContent()).toContain("66 pairs");
      await page.getByText("Search your own texts").click();
      await page.getByLabel("Texts, one a line").fill("to be\nor not to be");
      await expect.poll(() => page.locator("#similarity-rank").textContent()).toMatch(/ (all|of the) 1 pairs/);
      await page.getByLabel("First text").fill("");
      await expect.poll(() => page.locator("#similarity-value").textContent()).toBe("");
      expect(await page.locator("#similarity-rank").textContent()).toBe("");
    }));

  it.each([
    [429, "The deployment answers with an error: HTTP 429."],
    [undefined, "The deployment does not answer."],
  ])("tells refusals apart from no answer: HTTP %s", async (status, state) => {
    const before = (page: Page) =>
      page.route("**/info", (route) =>
        status ? route.fulfill({ status, json: { error: { message: "Wait." } } }) : route.abort(),
      );
    const { page } = await openPage(chrome, await servedPage(embed), { before, shows: "served" });
    await expect.poll(() => page.locator("#served").textContent()).toBe(state);
  });
});
