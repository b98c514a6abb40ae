import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { preparedDefault } from "../fixtures/prepared-default.ts";
import { judge } from "./judge.ts";
import { openModels } from "./models.ts";
import { type Sample, soak } from "./soak.ts";

const DURATION_MS = 5_000;

it("mixed traffic with publications gets no wrong answer, and the isolate stays below 128 MiB", {
  timeout: 120_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-soak-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const artifacts = await openModels(folder, await preparedDefault());
  const options = { durationMs: DURATION_MS, sampleMs: 1_000, publishMs: 1_500, seed: 1, hurry: true };
  const soaked = await soak({ artifacts, ...options });
  expect(soaked.seen.wrong).toEqual([]);
  expect(judge(soaked, 0).filter(({ holds }) => !holds)).toEqual([]);
  expect(Math.max(...soaked.samples.map(({ models }) => models))).toBeGreaterThan(10_000_000);
  expect(soaked.liveAfterMs.length).toBeGreaterThan(1);
  expect([...soaked.seen.tiers.keys()].sort()).toEqual(["edge", "region"]);
});

it("memory that grows is found", () => {
  const sampleAt = (minute: number): Sample => {
    const isolate = { heap: 1e7 + 1e6 * minute, buffers: 0, embedder: 0 };
    return {
      isolate,
      models: 0,
      workerd: 1e8,
      regionHeap: 1e7,
      region: 1e8,
      atMs: 60_000 * minute,
      requests: 1,
      peak: 0,
    };
  };
  const seen = { counts: new Map(), wrong: [], versions: new Map(), tiers: new Map() };
  const samples = Array.from({ length: 10 }, (_, minute) => sampleAt(minute));
  const verdicts = judge({ samples, seen, liveAfterMs: [] }, 10);
  expect(verdicts.filter(({ holds }) => !holds).map(({ what }) => what)).toEqual(["the isolate does not grow"]);
});
