import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { figureOf } from "../../bench/neighbours/figure.ts";
import { readResults } from "../../bench/neighbours/results.ts";
import { neighboursSection } from "./neighbours-page.ts";

const results = await readResults();

/** The text between two marks: the comment that says how it is updated, and the end. */
const MARKED =
  /(<!-- Written from docs\/neighbours\.json.*-->\n)[\s\S]*(?=<!-- End of what is written from docs\/neighbours\.json -->)/;

it("docs/comparison.md has the measurements of docs/neighbours.json", async () => {
  const page = await readFile("docs/comparison.md", "utf8");
  const section = neighboursSection(results);
  const written = page.replace(MARKED, (_, mark) => `${mark}\n${section}\n\n`);
  expect(written).toContain(section);
  await expect(written).toMatchFileSnapshot("../../docs/comparison.md");
});

it("docs/images/neighbours.svg is drawn from docs/neighbours.json", async () => {
  await expect(figureOf(results)).toMatchFileSnapshot("../../docs/images/neighbours.svg");
});
