import { describe, expect, it } from "vitest";
import { figureOf } from "./figure.ts";
import type { Results } from "./results.ts";
import { bestOf, tableOf } from "./table.ts";

const score = (kept: number, textsPerSecond: number) => ({
  kept,
  textsPerSecond,
  tied: [],
  margin: 0.004,
  meanCosine: 0.999,
});

const results: Results = {
  ...{ model: "a & b", date: "2026-11-29", commit: "0123abc", truth: "sentence-transformers", versions: {} },
  machine: { cpu: "cpu", cores: 2, load: [0, 0, 0] },
  ...{ maxTokens: 256, neighbours: 10, rounds: 12 },
  sets: [
    { id: "sts", title: "STS-B", kind: "test sentences", texts: 300, available: 2552, tokens: 15 },
    { id: "scifact", title: "SciFact", kind: "abstracts", texts: 200, available: 5183, tokens: 230 },
  ],
  forms: [
    {
      ...{ id: "edge", title: "bert-edge, edge", precision: "int8", bytes: 23_600_000 },
      scores: { sts: score(0.9, 500), scifact: score(0.95, 30) },
    },
    {
      ...{ id: "other", title: "other <int8>", precision: "int8", bytes: 22_900_000 },
      scores: { sts: score(0.8, 600), scifact: score(0.96, 29) },
    },
    { id: "gone", title: "gone", precision: "int8", absent: "No wheel." },
    {
      ...{ id: "exact", title: "exact", precision: "float32", bytes: 90_000_000 },
      scores: { sts: score(1, 200), scifact: score(1, 15) },
    },
  ],
};

describe("figureOf", () => {
  const svg = figureOf(results);

  it("has a bar for each form that was measured, as long as its share", () => {
    const bars = [...svg.matchAll(/class="(ours|peer)" x="200" y="\d+" width="([\d.]+)"/g)];
    expect(bars.map(([, name, width]) => [name, Number(width) / 350])).toEqual([
      ["ours", 0.9],
      ["peer", 0.8],
      ["peer", 1],
      ["ours", 0.95],
      ["peer", expect.closeTo(0.96, 3)],
      ["peer", 1],
    ]);
    expect(svg).not.toContain("gone");
  });

  it("tells screen readers its title and every number", () => {
    const [, labels = ""] = /aria-labelledby="([^"]+)"/.exec(svg) ?? [];
    for (const id of labels.split(" ")) expect(svg).toContain(` id="${id}"`);
    expect(svg).toContain(`<title id="title">Nearest neighbours that each form of a &amp; b keeps</title>`);
    expect(svg).toContain(
      "STS-B: 300 test sentences. bert-edge, edge 90.0 %, 500 texts per second; other &lt;int8&gt; 80.0 %",
    );
  });

  it("has colours for dark backgrounds for each class that it uses", () => {
    const [, dark = ""] = /prefers-color-scheme: dark\) \{([\s\S]*?)\n\}/.exec(svg) ?? [];
    const used = new Set([...svg.matchAll(/class="(\w+)"/g)].map(([, name]) => name as string));
    for (const name of used) expect(dark).toContain(`.${name} {`);
  });

  it("stays inside its frame", () => {
    const [, height = 0] = /viewBox="0 0 760 (\d+)"/.exec(svg) ?? [];
    const bottoms = [...svg.matchAll(/ y="(\d+)"/g)].map(([, y]) => Number(y) + 16);
    expect(Math.max(...bottoms)).toBeLessThanOrEqual(Number(height));
  });
});

describe("tableOf", () => {
  it("has a row for each form, and says why one was not measured", () => {
    const { heads, rows } = tableOf(results);
    expect(heads).toHaveLength(8);
    expect(rows.map((row) => row.length)).toEqual([8, 8, 8, 8]);
    expect(rows[0]).toEqual([
      ...["bert-edge, edge", "90.0 ± 0.4 %", "0.9990", "500"],
      ...["95.0 ± 0.4 %", "0.9990", "30.0", "23.6 MB"],
    ]);
    expect(rows[2]?.slice(0, 2)).toEqual(["gone", "not measured: No wheel."]);
  });
});

describe("bestOf", () => {
  it("returns the best int8 form of each column, ours or not", () => {
    expect(bestOf(results).map(({ column, form, cell }) => [column, form.id, cell])).toEqual([
      ["STS-B kept", "edge", "90.0 ± 0.4 %"],
      ["STS-B cosine", "edge", "0.9990"],
      ["STS-B texts/s", "other", "600"],
      ["SciFact kept", "other", "96.0 ± 0.4 %"],
      ["SciFact cosine", "edge", "0.9990"],
      ["SciFact texts/s", "edge", "30.0"],
      ["files", "other", "22.9 MB"],
    ]);
  });

  it("returns nothing if no int8 form was measured", () => {
    const forms = results.forms.filter(({ precision, absent }) => precision === "float32" || absent !== undefined);
    expect(bestOf({ ...results, forms })).toEqual([]);
  });
});
