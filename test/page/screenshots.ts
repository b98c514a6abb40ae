// Takes the pictures of the page in docs/images, with the default model, and prints what the page loads: `npm run docs:screenshots`.
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { openProject } from "#sdk/cli/dev/project.ts";
import { startStack } from "#sdk/cli/dev/stack.ts";
import { table } from "#sdk/cli/output.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { commandLine } from "../commands/command-line.ts";
import { launch } from "./in-chromium.ts";

const HEIGHT = 1000;
/** Time after which a search is shown, in ms. */
const SETTLED_MS = 500;
const root = join(import.meta.dirname, "../..");
const images = join(root, "docs/images");
const looks = [1440, 390].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
);

commandLine(
  "npm run docs:screenshots\nTakes the pictures of the page in docs/images. Prints its bytes, its requests, and the time to its first result.",
);

/** Opens the page as a new visitor, and takes its picture when it has shown its results. */
async function take(chrome: Browser, url: string, { width, colorScheme }: (typeof looks)[number]): Promise<string[]> {
  const context = await chrome.newContext({ viewport: { width, height: HEIGHT }, colorScheme, deviceScaleFactor: 1 });
  const page = await context.newPage();
  const bodies: Promise<number>[] = [];
  let requests = 0;
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (pathname === "/info" || pathname.startsWith("/v1/")) requests++;
    else if (url.startsWith(new URL(response.url()).origin))
      bodies.push(response.body().then((body) => gzipSync(body).length));
  });
  await page.goto(url);
  await page.locator("#found span").first().waitFor();
  const firstMs = await page.evaluate<number>("performance.now()");
  await page.locator("#similarity-rank").filter({ hasText: "more similar" }).waitFor();
  const opening = requests;
  // The first requests also wait for the browser and for the connection. These are typical.
  for (const name of ["my internet is down", "a legal dispute"]) {
    await page.getByRole("button", { name }).click();
    await page.waitForTimeout(SETTLED_MS);
  }
  await page.getByLabel("Query").fill("something sweet for dessert");
  await page.waitForTimeout(SETTLED_MS);
  const path = join(images, `page-${width}-${colorScheme}.png`);
  await page.screenshot({ path, fullPage: true });
  const bytes = (await Promise.all(bodies)).reduce((sum, size) => sum + size, 0);
  await context.close();
  return [`${width} px, ${colorScheme}`, `${bytes}`, `${opening}`, firstMs.toFixed(0)];
}

await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-screenshots-"));
const out = join(folder.path, "artifact");
await prepare({ model: join(root, "models/default"), name: "bert-edge-mini", out });
const stack = await startStack({
  project: openProject(root),
  artifacts: [await openFolder(out)],
  state: join(folder.path, "state"),
});
const chrome = await launch();
try {
  const url = `${stack.edge.url}/#key=${stack.edge.key}`;
  const rows: string[][] = [];
  for (const look of looks) rows.push(await take(chrome, url, look));
  console.log(table(["page", "bytes gzipped", "requests", "first result ms"], rows));
} finally {
  await chrome.close();
  await stack.stop();
}
