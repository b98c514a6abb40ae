import { existsSync, globSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSite } from "../../docs/site/index.ts";
import { seriousFaults } from "../page/accessibility.ts";
import { isSkipped, launch, openPage } from "../page/in-chromium.ts";

const BASE = "/some/path";
const PHONE = { viewport: { width: 390, height: 844 }, shows: "_top" } as const;
const DESKTOP = { viewport: { width: 1440, height: 900 }, shows: "_top" } as const;

/** Whether keyboards can scroll wide code. A script of the site sees to that as soon as the browser has time. */
const FOCUSABLE = `Array.from(document.querySelectorAll("pre")).every(
  (pre) => pre.scrollWidth <= pre.clientWidth || pre.tabIndex === 0)`;

/** Facts of a page: where its heading is, its width, its ids, and the targets of its links. */
const FACTS = `({
  top: document.querySelector("h1").getBoundingClientRect().top,
  width: document.documentElement.scrollWidth,
  ids: Array.from(document.querySelectorAll("[id]"), ({ id }) => id),
  targets: Array.from(document.querySelectorAll("a[href]"), ({ href }) => href),
})`;
const factsOf = (page: Page) =>
  page.evaluate<{ top: number; width: number; ids: readonly string[]; targets: readonly string[] }>(FACTS);

const isInstalled = existsSync("docs/site/node_modules/astro");

describe.skipIf(isSkipped || !isInstalled)("the site (needs Chromium, and the packages of `npm run docs`)", () => {
  let chrome: Browser;
  let folder: string;
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "site-"));
    buildSite(BASE, folder);
    const rewriteRequestPath = (path: string) => path.slice(BASE.length);
    const app = new Hono().use(`${BASE}/*`, serveStatic({ root: folder, rewriteRequestPath }));
    const listening = Promise.withResolvers<AddressInfo>();
    server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, listening.resolve) as Server;
    origin = `http://127.0.0.1:${(await listening.promise).port}`;
    chrome = await launch();
  });
  afterAll(async () => {
    await chrome.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });
  const open = (name: string, options: Parameters<typeof openPage>[2]) =>
    openPage(chrome, `${origin}${BASE}/${name}`, options);

  it("has pages that fit a phone, whose links lead to pages and headings", { timeout: 180_000 }, async () => {
    const names = globSync("{*,decisions/*}.html", { cwd: folder }).filter((name) => name !== "404.html");
    const places = new Set<string>();
    const links: { readonly from: string; readonly to: string }[] = [];
    for (const name of names) {
      const { page, faults } = await open(name, PHONE);
      const { top, width, ids, targets } = await factsOf(page);
      expect({ name, faults, width }).toEqual({ name, faults: [], width: PHONE.viewport.width });
      expect(top, name).toBeLessThan(200);
      for (const place of ["", ...ids.map((id) => `#${id}`)]) places.add(page.url() + place);
      links.push(...targets.filter((to) => to.startsWith(origin)).map((to) => ({ from: name, to })));
      await page.close();
    }
    expect(names.length).toBeGreaterThan(45);
    expect(links.length).toBeGreaterThan(names.length ** 2);
    expect(
      links.filter(({ to }) => !places.has(to) && !existsSync(join(folder, to.slice(`${origin}${BASE}`.length)))),
    ).toEqual([]);
  });

  it("opens its menu on a phone", async () => {
    const { page } = await open("start.html", PHONE);
    const link = page.locator('nav[aria-label="Main"]').getByRole("link", { name: "Deploy to your account" });
    expect(await link.count()).toBe(0);
    await page.getByRole("button", { name: "Menu" }).click();
    await link.click();
    await page.getByRole("heading", { name: "Deploy to your account", level: 1 }).waitFor();
    expect(await link.count()).toBe(0);
  });

  it("marks the page in its menu, and has a table of contents", async () => {
    const { page } = await open("http.html", DESKTOP);
    const current = page.locator('nav[aria-label="Main"] [aria-current="page"]');
    expect(await current.allInnerTexts()).toEqual(["The HTTP interface"]);
    const contents = page.getByRole("navigation", { name: "On this page" });
    await contents.getByRole("link", { name: "The decision" }).click();
    expect(page.url()).toBe(`${origin}${BASE}/http.html#the-decision`);
  });

  it("finds what is searched for", async () => {
    const { page, faults } = await open("index.html", PHONE);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByPlaceholder("Search").fill("latency budget");
    const results = page.getByRole("dialog").getByRole("link");
    await expect.poll(() => results.allInnerTexts()).toContain("Routing");
    await results.filter({ hasText: "Routing" }).first().click();
    await page.getByRole("heading", { name: "Routing", level: 1 }).waitFor();
    expect(page.url()).toContain(`${origin}${BASE}/routing.html`);
    expect(faults).toEqual([]);
  });

  it.each(["index.html", "start.html", "errors.html", "routing.html", "404.html"])(
    "has no serious faults, light and dark: %s",
    async (name) => {
      for (const colorScheme of ["light", "dark"] as const) {
        const { page } = await open(name, { ...PHONE, colorScheme });
        await page.waitForFunction(FOCUSABLE);
        expect(await seriousFaults(page), colorScheme).toEqual([]);
      }
    },
  );
});
