import { type Browser, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { executable } from "../runtimes/executable.ts";

/** Path of an installed Chromium or Chrome. With the environment variable CHROMIUM=required, tests fail without one. */
const browser = executable("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
export const isSkipped = browser === undefined && process.env["CHROMIUM"] !== "required";

/** A page that notes what goes wrong on it, and what it downloads. */
export interface WatchedPage {
  readonly page: Page;
  /** Messages of the console, uncaught errors and failed requests. */
  readonly faults: readonly string[];
  /** Bodies of all files that were read from the page's own static assets, by path. */
  readonly files: ReadonlyMap<string, Buffer>;
}

export const launch = (): Promise<Browser> => {
  if (!browser) throw new Error("No Chromium is installed. Install one with the system's package manager.");
  return chromium.launch({ executablePath: browser, args: ["--no-sandbox"] });
};

/** Returns the cells of the newest request in the page's table, with spaces in between. */
export const newestRequest = async (page: Page): Promise<string> =>
  (await page.locator("#requests tr").first().locator("td").allTextContents()).join(" ");

interface PageOptions {
  readonly colorScheme?: "light" | "dark";
  /** Default: 900 × 1400. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /**
   * Id of the part of the page that must be shown before a test goes on. Keys that are typed into a hidden part are lost.
   * Default: `app`, which is shown when the deployment has said what it serves. `_top` is the heading of a page of the documentation.
   */
  readonly shows?: "app" | "key" | "served" | "routes" | "_top";
  /** Prepares the page before it opens the URL. */
  readonly before?: (page: Page) => Promise<unknown>;
}

/** Opens a page, and waits until it shows what the test is about. The page is closed when the test ends. */
export async function openPage(
  chrome: Browser,
  url: string,
  { shows = "app", before, ...options }: PageOptions = {},
): Promise<WatchedPage> {
  const page = await chrome.newPage({ viewport: { width: 900, height: 1400 }, ...options });
  onTestFinished(() => page.close());
  const faults: string[] = [];
  const files = new Map<string, Buffer>();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("requestfailed", (request) => faults.push(`${request.url()} failed`));
  page.on("response", async (response) => {
    const { pathname } = new URL(response.url());
    if (/^\/([\w-]+\.(js|css|wasm))?$/.test(pathname) && response.status() === 200) {
      // A page that is closed or reloaded loses its bodies.
      const body = await response.body().catch(() => undefined);
      if (body) files.set(pathname, body);
    }
  });
  await before?.(page);
  await page.goto(url);
  await page.locator(`#${shows}`).waitFor();
  return { page, faults, files };
}
