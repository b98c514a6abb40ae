import { describe, expect, it } from "vitest";
import { randomNumbers } from "../fixtures/seeded.ts";
import { mixOf } from "./mix.ts";
import { ANSWER_MODEL, EMBED_MODELS, PAIR_MODEL, type SoakModels, TAG_MODEL, usualModels } from "./models.ts";

const DRAWS = 1_000;
const given: SoakModels = { main: ["first", "second"], small: [], hasTasks: false };

/** Draws requests, and counts those of each kind that have an expected answer, by model. */
function drawn(models: SoakModels) {
  const mix = mixOf(models);
  const random = randomNumbers(1);
  const shots = Array.from({ length: DRAWS }, () => mix.draw(random));
  return { mix, shots, right: shots.filter(({ expected }) => expected) };
}

describe("the mix", () => {
  it("asks every model of the usual deployment, and the default model most", () => {
    const { right } = drawn(usualModels);
    expect(new Set(right.map(({ model }) => model))).toEqual(
      new Set([...EMBED_MODELS, PAIR_MODEL, TAG_MODEL, ANSWER_MODEL]),
    );
    expect(right.filter(({ model }) => model === usualModels.main[0]).length).toBeGreaterThan(right.length / 2);
  });

  it("asks given models alike, and no others", () => {
    const { right } = drawn(given);
    const ofFirst = right.filter(({ model }) => model === "first").length;
    expect(new Set(right.map(({ model }) => model))).toEqual(new Set(given.main));
    expect(ofFirst / right.length).toBeGreaterThan(0.4);
    expect(ofFirst / right.length).toBeLessThan(0.6);
    expect(right.some(({ kind }) => kind === "rare words")).toBe(true);
  });

  it("sends every long text to every model", () => {
    const { mix, right } = drawn(given);
    const long = right.filter(({ kind }) => kind.startsWith("2 MB") || kind === "long, in chunks");
    expect(mix.heavySent()).toBe(long.length);
    expect(long.length).toBeGreaterThan(mix.heavyWays);
    const first = long.slice(0, mix.heavyWays);
    expect(
      new Set(first.map(({ model, kind, body }) => `${model} ${kind} ${body.length} ${body.slice(0, 200)}`)).size,
    ).toBe(mix.heavyWays);
  });
});
