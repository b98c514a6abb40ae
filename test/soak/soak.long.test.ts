import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { preparedDefault } from "../fixtures/prepared.ts";
import { judge } from "./judge.ts";
import { openModels } from "./models.ts";
import { type Sample, type Soaked, soak } from "./soak.ts";
import { nothingSeen } from "./traffic.ts";

const DURATION_MS = 5_000;

it.skipIf(!existsSync("/proc/self/status"))(
  "mixed traffic with publications gets no wrong answer, and the isolate stays below 128 MiB (reads /proc)",
  { timeout: 300_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "bert-edge-soak-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const artifacts = await openModels(folder, await preparedDefault());
    const options = { durationMs: DURATION_MS, sampleMs: 1_000, publishMs: 1_500, seed: 1, hurry: true };
    const soaked = await soak({ artifacts, ...options });
    expect(soaked.seen.wrong).toEqual([]);
    expect(judge(soaked, 0).filter(({ holds }) => !holds)).toEqual([]);
    expect(Math.max(...soaked.samples.map(({ models }) => models))).toBeGreaterThan(10_000_000);
    expect([...soaked.seen.tiers.keys()].sort()).toEqual(["edge", "region"]);
  },
);

describe("a run fails", () => {
  const MIB = 1024 * 1024;
  const sampleAt = (minute: number, change: Partial<Sample> = {}): Sample => ({
    isolate: { heap: 1e7, buffers: 0, embedder: 0 },
    ...{ models: 0, workerd: 1e8, regionHeap: 1e7, region: 1e8, requests: 1, peak: 1e7 },
    atMs: 60_000 * minute,
    ...change,
  });
  const samplesWith = (change: (minute: number) => Partial<Sample>) =>
    Array.from({ length: 20 }, (_, i) => sampleAt(i / 2, change(i / 2)));
  const sound: Soaked = {
    samples: samplesWith(() => ({})),
    seen: { ...nothingSeen(), counts: new Map([["short", new Map([["answered", 100]])]]) },
    liveAfterMs: [1_000],
    heavy: { sent: 9, ways: 9 },
    log: [],
  };
  const failed = (change: Partial<Soaked>) =>
    judge({ ...sound, ...change }, 10)
      .filter(({ holds }) => !holds)
      .map(({ what }) => what);

  it("not, if all is well", () => expect(failed({})).toEqual([]));

  it.each<[what: string, change: (minute: number) => Partial<Sample>]>([
    ["the isolate", (minute) => ({ isolate: { heap: 1e7 + 2 * MIB * minute, buffers: 0, embedder: 0 } })],
    ["the region's heap", (minute) => ({ regionHeap: 1e7 + 2 * MIB * minute })],
    ["workerd", (minute) => ({ workerd: 1e8 + 12 * MIB * minute })],
    ["the region", (minute) => ({ region: 1e8 + 12 * MIB * minute })],
  ])("if memory grows: %s", (name, change) => {
    expect(failed({ samples: samplesWith(change) })).toEqual([`${name} does not grow`]);
  });

  it("not, if memory levels off", () => {
    const level = (minute: number) => 1e8 + 100 * MIB * (1 - Math.exp(-minute));
    expect(failed({ samples: samplesWith((minute) => ({ workerd: level(minute), region: level(minute) })) })).toEqual(
      [],
    );
  });

  it("without samples, requests or publications", () => {
    expect(failed({ samples: [], seen: nothingSeen(), liveAfterMs: [] })).toEqual([
      "each kind of request is answered",
      "the isolate stays below 128 MiB",
      "also with garbage",
      "each new version is served",
      ...["the isolate", "workerd", "the region's heap", "the region"].map((name) => `${name} does not grow`),
    ]);
  });

  it.each<[what: string, change: Partial<Soaked>]>([
    ["each new version is served", { liveAfterMs: [1_000, undefined] }],
    ["each long text is read in each way", { heavy: { sent: 8, ways: 9 } }],
    [
      "each kind of request is answered",
      { seen: { ...sound.seen, counts: new Map([["short", new Map(Object.entries({ answered: 10, busy: 90 }))]]) } },
    ],
  ])("%s: if not", (what, change) => expect(failed(change)).toEqual([what]));
});
