import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { platforms } from "#sdk/compile/latency/platforms/platforms.ts";

const page = await readFile(new URL("../../docs/prepare.md", import.meta.url), "utf8");

const prices = platforms.flatMap(({ name, prices }) =>
  [prices?.perMillionRequests, ...(prices?.perSecond ?? []).map(({ price }) => price)].flatMap((price) =>
    price ? [[`$${price.value}`, name, price] as const] : [],
  ),
);

it.each(prices)("docs/prepare.md has the price %s of %s, its source and its month", (text, _, { source, asOf }) => {
  expect(page).toContain(text);
  expect(page).toContain(source);
  expect(page).toContain(asOf);
});
