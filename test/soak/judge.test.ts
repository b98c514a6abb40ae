import { describe, expect, it } from "vitest";
import { judge } from "./judge.ts";
import type { Sample, Soaked } from "./soak.ts";
import { nothingSeen } from "./traffic.ts";

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
    seen: {
      ...nothingSeen(),
      counts: new Map([["short", new Map([["answered", 100]])]]),
      tiers: new Map([
        ["edge", 90],
        ["region", 10],
      ]),
    },
    liveAfterMs: [1_000],
    heavy: { sent: 9, ways: 9 },
    steady: { counts: { "200": 99, "503 overloaded": 1 }, answersMs: [], wrong: [] },
    attacked: { attacks: new Map([["flood", 10]]), wrong: [] },
    crashed: [],
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

  it("not, if no versions were published", () => expect(failed({ liveAfterMs: undefined })).toEqual([]));

  it("not, if memory levels off", () => {
    const level = (minute: number) => 1e8 + 100 * MIB * (1 - Math.exp(-minute));
    expect(failed({ samples: samplesWith((minute) => ({ workerd: level(minute), region: level(minute) })) })).toEqual(
      [],
    );
  });

  it("not, if it is short and one request of the steady caller was refused", () => {
    const short = new Map(Array.from({ length: 12 }, (_, i) => [`kind ${i}`, new Map([["answered", 1]])]));
    const steady = { counts: { "200": 14, "503 overloaded": 1 }, answersMs: [], wrong: [] };
    expect(failed({ seen: { ...sound.seen, counts: short }, steady })).toEqual([]);
  });

  it("without samples, requests or publications", () => {
    expect(failed({ samples: [], seen: nothingSeen(), liveAfterMs: [] })).toEqual([
      "each kind of request is answered",
      "both tiers answer",
      "the isolate stays below 128 MiB",
      "also with garbage",
      "each new version is served",
      ...["the isolate", "workerd", "the region's heap", "the region"].map((name) => `${name} does not grow`),
    ]);
  });

  it.each<[what: string, change: Partial<Soaked>]>([
    ["both tiers answer", { seen: { ...sound.seen, tiers: new Map([["edge", 100]]) } }],
    ["no process has ended", { crashed: ["edge"] }],
    ["no wrong answer", { attacked: { ...sound.attacked, wrong: ["flood"] } }],
    [
      "a steady caller is answered beside attacks with another key",
      { steady: { counts: { "200": 94, "no answer": 6 }, answersMs: [], wrong: [] } },
    ],
    ["each attack is made on each tier", { attacked: { attacks: new Map([["flood", 9]]), wrong: [] } }],
    ["each new version is served", { liveAfterMs: [1_000, undefined] }],
    ["each long text is read in each way", { heavy: { sent: 8, ways: 9 } }],
    [
      "each kind of request is answered",
      { seen: { ...sound.seen, counts: new Map([["short", new Map(Object.entries({ answered: 10, busy: 90 }))]]) } },
    ],
    [
      "each kind of request is answered",
      { seen: { ...sound.seen, counts: new Map([1, 2, 3].map((i) => [`kind ${i}`, new Map([["busy", 5]])])) } },
    ],
  ])("%s: if not", (what, change) => expect(failed(change)).toEqual([what]));
});
