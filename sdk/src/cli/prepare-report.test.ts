import { describe, expect, it } from "vitest";
import { sampleManifest, sampleReport } from "#test/fixtures/sample-report.ts";
import type { PrepareReport } from "../compile/commands/prepare.ts";
import { nextStep, passedOver, prepareReport } from "./prepare-report.ts";

/** Expects that a text fits on one screen. */
function expectOneScreen(text: string): void {
  const lines = text.split("\n");
  expect(lines.length).toBeLessThanOrEqual(40);
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
}

describe("prepareReport", () => {
  it("names accepted keys where it says how the model is read", () => {
    const reading = { ...sampleReport.reading, accepted_keys: ["1_Pooling.mood"] };
    expect(prepareReport({ ...sampleReport, reading })).toContain("\naccepted keys: 1_Pooling.mood\n");
  });

  it.each([
    ["once", "when the model is loaded"],
    ["each call", "in each call, because they do not fit otherwise"],
  ] as const)("says which weights have 4 bits, and that they are expanded %s", (expanded, when) => {
    const edge = sampleManifest.targets.edge ?? expect.unreachable();
    const weights = { layers: 24, layersInFourBits: 23, tableBits: 4, expanded } as const;
    const manifest = { ...sampleManifest, targets: { edge: { ...edge, weights } } };
    const text = prepareReport({ ...sampleReport, manifest });
    expect(text.replaceAll(/\s+/g, " ")).toContain("edge: 23 of 24 layers in 4 bits, expanded ");
    expect(text.replaceAll(/\s+/g, " ")).toContain(`${when}; table in 4 bits`);
    expectOneScreen(text);
  });

  it("says on one screen how accurate, fast and expensive each target is, and where it fits", () => {
    const text = prepareReport(sampleReport);
    expect(text.split("\n")).toEqual([
      "mini@4e09371df975: 384 dimensions, mean pooling, 256 tokens",
      "reads: lower case · texts cut at the right · normalized · similarity cosine",
      "",
      "target          engine  precision     size   cosine    worst",
      "────────────  ────────  ─────────  ───────  ───────  ───────",
      "edge              wasm  int8-edge  17.8 MB  0.99955  0.99900",
      "regional-cpu  ort-node       int8  18.3 MB  0.99955  0.99900",
      "regional-gpu  ort-node       fp16  34.5 MB  0.99955  0.99900",
      "edge: 15.2 MB before the first answer: 0.4 s from a store of 20 ms and 50 MB/s",
      "  (estimated); at most 21 MiB of memory",
      "",
      "128 tokens                fits             binding limit  a million requests",
      "────────────────────────  ────  ────────────────────────  ──────────────────",
      "Workers Free                 ✓        time 8.24 of 10 ms      $0, 100k a day",
      "Workers Paid                 ✓      memory 21 of 128 MiB               $0.46",
      "AWS Lambda, 512 MB           ✓     memory 157 of 512 MiB               $0.33",
      "AWS Lambda, 1024 MB          ✓      code 44.7 of 250 MiB               $0.33",
      "AWS Lambda, 2048 MB          ✓      code 44.7 of 250 MiB               $0.37",
      "Cloud Run, 1 vCPU, 1 GiB     ✓    memory 157 of 1024 MiB               $0.09",
      "Cloud Run, NVIDIA L4         ✓  memory 32.9 of 24576 MiB       $1.05 an hour",
      "Limits and list prices of 2026-05 to 2026-09, without free allowances.",
      "",
      "predicted for one text   8 tokens  32 tokens  128 tokens  256 tokens",
      "──────────────────────  ─────────  ─────────  ──────────  ──────────",
      "edge                      0.61 ms    1.90 ms     8.24 ms     19.6 ms",
      "regional-cpu              0.74 ms    1.46 ms     4.34 ms     8.18 ms",
      "regional-gpu            not timed",
      "Timed on one thread of this machine: Sample CPU.",
      "",
      "cosine of texts of  16 tokens  128 tokens  256 tokens",
      "──────────────────  ─────────  ──────────  ──────────",
      "edge                  0.99951     0.99950     0.99946",
      "regional-cpu          0.99951     0.99950     0.99946",
      "regional-gpu          0.99951     0.99950     0.99946",
      "",
      "fused: 133 → 25 nodes (1 EmbedLayerNormalization, 3 Attention, 6",
      "  SkipLayerNormalization, 3 BiasGelu), cosine 1.000000 with the original",
      "",
      "! Texts are cut at 256 tokens, but the model has 512 positions.",
    ]);
    expectOneScreen(text);
  });

  it("says how the float32 model agrees with a golden file", () => {
    const golden = { file: "golden.jsonl", lines: 12, mean: 0.9999999, worst: { line: 3, agreement: 0.9999981 } };
    const text = prepareReport({ ...sampleReport, golden });
    expect(text).toContain("\ngolden.jsonl: 12 lines agree with the float32 model, at worst 0.999998 (line 3)\n");
    expectOneScreen(text);
  });

  it("has the labels that agree and the score on your data", () => {
    const { edge } = sampleManifest.targets;
    const manifest = {
      ...sampleManifest,
      task: "classify",
      labels: Array.from({ length: 50 }, (_, i) => `label ${i}`),
      targets: {
        edge: {
          ...edge,
          parity: { ...edge?.parity, top1: 0.952 },
          task: { metric: "accuracy", score: 88.1, fp32: 88.3 },
        },
      },
    } as unknown as PrepareReport["manifest"];
    const text = prepareReport({ ...sampleReport, manifest });
    expect(text).toContain("classifier of texts: label 0, label 1");
    expect(text).toMatch(/^edge .* 95\.2 %\naccuracy on your data: float32 88\.30, edge 88\.10$/m);
    expectOneScreen(text);
  });

  it("names the commit of a downloaded model", () => {
    const source = { name: "org/mini", commit: "c".repeat(40), isOffline: true };
    expect(prepareReport({ ...sampleReport, source })).toContain(
      `\ndownloaded: org/mini@${"c".repeat(40)} (the Hub could not\n  be asked: this is the last known commit)\n`,
    );
  });

  it("counts the warnings that do not fit on the screen", () => {
    const message = "This part is not fused, because onnxruntime has no operator for it. ".repeat(10);
    const warnings = Array.from({ length: 9 }, () => ({ code: "part_excused", message }) as const);
    const text = prepareReport({ ...sampleReport, warnings });
    expectOneScreen(text);
    expect(text).toMatch(/\n! \d more: see --json$/);
  });

  it("has no warnings if there are none", () => {
    expect(prepareReport({ ...sampleReport, warnings: [] })).toMatch(/with the original$/);
  });
});

it("says how to try the artifact: in a project, or its vectors anywhere else", () => {
  const classifier = { ...sampleReport, manifest: { ...sampleManifest, task: "classify" } } as unknown as PrepareReport;
  expect(nextStep(sampleReport, "models/a", { isInProject: true })).toEqual(["Next: npx bert-edge dev models/a"]);
  expect(nextStep(classifier, "models/a", { isInProject: true })).toEqual(["Next: npx bert-edge dev models/a"]);
  expect(nextStep(sampleReport, "./a", { isInProject: false })).toEqual([
    'Next: echo "to be or not to be" | npx bert-edge embed ./a',
  ]);
  expect(nextStep(classifier, "./a", { isInProject: false })).toEqual([]);
  const regional = { ...sampleReport, manifest: { ...sampleManifest, targets: {} } };
  expect(nextStep(regional, "my models/a", { isInProject: true })).toEqual([
    'Next: echo "to be or not to be" | npx bert-edge embed "my models/a"',
  ]);
});

it("says which function to deploy for a target, and why the faster engine is not used", () => {
  const report = {
    manifest: { targets: { edge: { engine: "ort-web" }, "regional-cpu": { engine: "ort-node" } } },
    passedOver: [{ target: "edge", engine: "wasm", why: "It has no kernel: Conv (conv)." }],
  } as unknown as PrepareReport;
  const [line, ...others] = passedOver(report);
  expect(line).toBe(
    "edge uses ort-web instead of wasm: It has no kernel: Conv (conv).\n  Deploy functions/edge-ort-web.ts for this target. README.md of created projects contains this file.",
  );
  expect(others).toEqual([]);
});
