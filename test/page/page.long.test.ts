import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Stack } from "#sdk/cli/dev/stack.ts";
import { BertEdge } from "#sdk/client/bert-edge.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { startDefaultStack } from "../e2e/default-stack.ts";
import { seriousFaults } from "./accessibility.ts";
import { isSkipped, launch, newestRequest, openPage } from "./in-chromium.ts";

/** Limit for everything that the page loads, gzipped, without the model. Measured: 77.9 KB, 16 KB of them before the model. */
const PAGE_GZIP_BYTES = 79_000;

/** Positions of the slider: 10 ms to 5 s, and none. */
const [BUDGETS, NO_BUDGET] = [["3", "4", "5", "6", "7", "8", "9", "10", "11", "12"], "13"] as const;

/** Expression for the element with the keyboard's focus: its id, else its text. */
const FOCUSED = `(({ id, tagName, textContent }) => id || (tagName === "BODY" ? "body" : textContent.trim()))(document.activeElement)`;

/** Waits until the page's first requests are answered. Before, the edge has a queue, and the region may answer what comes next. */
const settled = (page: Page): Promise<void> =>
  page.locator("#similarity-rank").filter({ hasText: "more similar" }).waitFor();

/** Returns the text of the page's table of requests, without spaces between its cells. */
const table = async (page: Page): Promise<string> => (await page.locator("#requests").textContent()) ?? "";

/** The page of the real stack: edge in workerd, region in Node, the default model. */
describe.skipIf(isSkipped)("the page at /, in Chromium", () => {
  let stack: Stack;
  let chrome: Browser;
  let withKey: string;
  beforeAll(async () => {
    [stack, chrome] = await Promise.all([startDefaultStack(), launch()]);
    withKey = `${stack.edge.url}/#key=${stack.edge.key}`;
  });
  afterAll(async () => {
    await chrome?.close();
    await stack?.stop();
  });

  it("shows when it opens what the model does, with at most five requests", async () => {
    const asked: string[] = [];
    const before = async (page: Page) =>
      page.on("request", (request) => {
        const { pathname } = new URL(request.url());
        if (pathname === "/info" || pathname.startsWith("/v1/")) asked.push(pathname);
      });
    const { page, faults } = await openPage(chrome, withKey, { before });
    await expect
      .poll(() => page.locator("#found li").first().textContent())
      .toMatch(/^Fold whipped cream .* 0\.\d{3}$/);
    expect(await page.locator("#found li").count()).toBe(12);
    await expect
      .poll(() => page.locator("#similarity-rank").textContent())
      .toMatch(/^more similar than (all|\d+ of the) 66 pairs of the texts above$/);
    expect(asked.length).toBeLessThanOrEqual(5);
    expect(await page.locator("#last").textContent()).toMatch(
      /^(edge|region) answered in [\d.]+ ms, [\d.]+ predicted$/,
    );
    expect(page.url()).not.toContain(stack.edge.key);
    expect(faults).toEqual([]);
  });

  it("compares texts while the user types, with the cosine of the edge's vectors", async () => {
    const { page, faults } = await openPage(chrome, withKey);
    await settled(page);
    await page.getByLabel("Second text").fill("Tomatoes grow well on balconies.");
    const texts = [await page.getByLabel("First text").inputValue(), await page.getByLabel("Second text").inputValue()];
    const client = new BertEdge({ baseURL: stack.edge.url, apiKey: stack.edge.key });
    const { embeddings } = await client.embed(texts, { tier: "edge" });
    const [first, second] = embeddings as [Float32Array, Float32Array];
    await expect.poll(() => page.locator("#similarity-value").textContent()).toBe(cosine(first, second).toFixed(3));
    await expect.poll(() => table(page)).toMatch(/similarity\d+ tokensedgeno-budget/);
    expect(faults).toEqual([]);
  });

  it("searches while the user types, also texts of the user", async () => {
    const { page, faults } = await openPage(chrome, withKey);
    await page.getByLabel("Query").fill("");
    await page.getByLabel("Query").pressSequentially("wild animals", { delay: 20 });
    await expect.poll(() => page.locator("#found li").first().textContent()).toContain("Wolves returned");
    await page.getByRole("button", { name: "who won the match?" }).click();
    await expect.poll(() => page.locator("#found li").first().textContent()).toContain("The goalkeeper");
    await page.getByText("Search your own texts").click();
    await page.getByLabel("Texts, one a line").fill("A bus stop.\n\n  A football match.  \nA football match.");
    await expect.poll(() => page.locator("#found li").allTextContents()).toHaveLength(2);
    expect(await page.locator("#found li").first().textContent()).toContain("A football match.");
    expect(faults).toEqual([]);
  });

  it("gives programs for curl, TypeScript and openai that run as they are copied", async () => {
    const { page, faults } = await openPage(chrome, withKey);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const copied = async (name: string) => {
      await page.getByRole("tab", { name }).click();
      expect(await page.locator("#example").textContent()).not.toContain(stack.edge.key);
      await page.getByRole("button", { name: "Copy" }).click();
      await expect.poll(() => page.locator("#copy-state").textContent()).toBe("Copied.");
      return page.evaluate<string>("navigator.clipboard.readText()");
    };
    const run = promisify(execFile);
    const curl = await run("bash", ["-c", await copied("curl")]);
    expect(JSON.parse(curl.stdout)).toMatchObject({ embeddings: [expect.any(Array), expect.any(Array)] });
    for (const name of ["TypeScript", "openai"]) {
      const { stdout } = await run(process.execPath, ["--input-type=module", "-e", await copied(name)]);
      expect(stdout).toMatch(/Float32Array|\[\s*-?\d/);
    }
    expect(await copied("Python")).toContain("from openai import OpenAI");
    expect(faults).toEqual([]);
  });

  it("moves requests to the region when the budget asks for it", async () => {
    // The region's first answers are slow, and the edge expects the next ones to be so, too, until it has seen some.
    const edge = new BertEdge({ baseURL: stack.edge.url, apiKey: stack.edge.key });
    for (let request = 0; request < 6; request++)
      await edge.embed("The wheel still turns whenever the sluice is open. ".repeat(20), { tier: "region" });

    const { page, faults } = await openPage(chrome, withKey);
    await settled(page);
    const send = async (count: string, budget: string) => {
      await page.getByRole("combobox", { name: "Requests at once" }).selectOption(count);
      await page.locator("#budget").fill(budget);
      await page.getByRole("button", { name: "Send" }).click();
      await expect.poll(() => page.locator("#crowd-state").textContent(), { timeout: 30_000 }).toMatch(/^\w+: \d/);
    };
    await page.getByRole("combobox", { name: "Text" }).selectOption("page");
    await send("1", NO_BUDGET);
    expect(await page.locator("#crowd-state").textContent()).toBe("edge: 1");
    expect(await page.locator("#budget").getAttribute("aria-valuetext")).toBe("none");
    // However fast the machine is, some budget lies between the time of one request and the time of 32, one after another.
    const moved = /budget \d+regionedge-(over-budget|busy)/;
    for (const budget of BUDGETS) {
      await send("32", budget);
      if (moved.test(await table(page))) break;
    }
    expect(await table(page)).toMatch(moved);
    expect(await page.locator("#budget").getAttribute("aria-valuetext")).toMatch(/^\d+ ms$/);
    expect(await page.locator("#summary").textContent()).toMatch(/edge: \d+, median .* region: \d+, median/);
    // Chromium reports each refusal on the console: requests that neither could answer within their budget.
    expect(faults.filter((fault) => !/50[34]/.test(fault))).toEqual([]);
  });

  it("runs the model in the browser, with the vectors of the edge, bit for bit, in 79 KB", async () => {
    const { page, faults, files } = await openPage(chrome, withKey);
    await page.getByRole("button", { name: "Load the model here" }).click();
    await expect.poll(() => page.getByRole("radio", { name: "this browser" }).isChecked()).toBe(true);
    await page.getByLabel("First text").fill("to be");
    await expect.poll(() => newestRequest(page)).toMatch(/^similarity\d+ tokens browser/);

    const texts = [
      "to be",
      "or not to be",
      "The wheel still turns whenever the sluice is open. ".repeat(40),
      "🗼 naïve",
    ];
    const [path = ""] = [...files.keys()].filter((file) => file.startsWith("/in-browser"));
    const connection = {
      baseURL: `${stack.edge.url}/`,
      key: stack.edge.key,
      info: { model_id: stack.published[0]?.name },
    };
    const local = await page.evaluate(`import(${JSON.stringify(path)})
      .then(({ inBrowser }) => inBrowser(${JSON.stringify(connection)}))
      .then((answers) => answers.embed(${JSON.stringify(texts)}))
      .then(({ result }) => result.map((vector) => [...vector]))`);
    const edge = new BertEdge({ baseURL: stack.edge.url, apiKey: stack.edge.key });
    const { embeddings } = await edge.embed(texts, { truncate: true, tier: "edge" });
    expect(local).toEqual(embeddings.map((vector) => [...vector]));

    const sizes = [...files.values()].map((body) => gzipSync(body).length);
    expect(files.size).toBeGreaterThan(5);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(PAGE_GZIP_BYTES);
    expect(faults).toEqual([]);
  });

  it("asks for a key, and says when it is wrong", async () => {
    const { page, faults } = await openPage(chrome, stack.edge.url, { shows: "key" });
    await page.getByLabel("Key", { exact: true }).fill("wrong");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#key-error").textContent()).toContain("API key");
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByLabel("Key", { exact: true }).fill(stack.edge.key);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#served").textContent()).toContain("bert-edge-mini");
    // A reload would end the page's first requests, which is a fault for `faults`.
    await settled(page);
    await page.reload();
    await settled(page);
    // Chromium reports each 401 on the console: without a key, and with the wrong one.
    expect(faults.filter((fault) => !fault.includes("401"))).toEqual([]);
  });

  it("can be used with the keyboard alone", async () => {
    const { page, faults } = await openPage(chrome, withKey);
    const seen: string[] = [];
    for (let i = 0; i < 30 && !seen.includes("body"); i++) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate<string>(FOCUSED);
      seen.push(focused);
      if (focused === "budget") await page.keyboard.press("ArrowLeft");
      if (focused === "query") await page.keyboard.type(" or sport");
      if (focused === "curl") await page.keyboard.press("ArrowRight");
    }
    expect(seen).toEqual(
      expect.arrayContaining(["query", "a legal dispute", "first", "second", "copy", "budget", "size", "Send", "load"]),
    );
    // The tabs are one stop of the keyboard.
    expect(seen).not.toContain("TypeScript");
    expect(await page.locator("#example").textContent()).toContain('from "bert-edge/client"');
    expect(await page.locator("#budget-text").textContent()).toBe("5000 ms");
    await expect.poll(() => page.locator("#similarity-value").textContent()).toMatch(/^0\.\d{3}$/);
    expect(faults).toEqual([]);
  });

  const looks = (["light", "dark"] as const).flatMap((colorScheme) =>
    [390, 1440].map((width) => ({ colorScheme, width, viewport: { width, height: 1000 } })),
  );
  it.each(looks)("has no serious fault of accessibility, and fits: $width px, $colorScheme", async (look) => {
    const { page } = await openPage(chrome, withKey, look);
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => page.locator("#crowd-state").textContent()).toMatch(/: 1$/);
    expect(await seriousFaults(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(look.width);
    await page.goto(`${stack.edge.url}/docs`);
    await page.getByText("POST /v1/embed", { exact: true }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(look.width);
  });
});
