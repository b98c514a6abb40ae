import { describe, expect, it } from "vitest";
import { statisticsOf } from "#test/fixtures/activation-statistics.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import type { ActivationStatistics } from "../quantize/calibration/activation-statistics.ts";
import { assertVaries } from "./varies.ts";

const vector = (...values: number[]) => Float32Array.from(values);

const statistics = (...entries: [string, ActivationStatistics][]) => ({
  weights: entries.map(([weight]) => weight),
  get: (weight: string) => new Map(entries).get(weight),
});

const varying = statisticsOf([vector(1, 2), vector(1, 3)]);
const constant = statisticsOf([vector(1, 2), vector(1, 2), vector(1, 2)]);
const alike = [vector(1, 2), vector(1, 2)];

describe("assertVaries", () => {
  it.each([
    ["one number of one text differs", [vector(1, 2), vector(1, 2), vector(1, 2.001)]],
    ["a small number next to a large one differs by more than rounding", [vector(1000, 0), vector(1000, 0.02)]],
  ])("accepts a model when %s", (_, results) => {
    expect(refusal(() => assertVaries(results, statistics()))).toBe("accepted");
  });

  it.each([
    ["are equal", alike],
    ["differ by rounding of the largest number", [vector(1000, 0.001), vector(1000.001, 0.002)]],
    ["are all zero", [vector(0, 0), vector(0, 0)]],
    ["are only one vector", [vector(1, 2)]],
    ["are empty", []],
  ])("refuses models whose results %s", (_, results) => {
    expect(refusal(() => assertVaries(results, statistics(["weight", varying])))).toBe("model_constant");
  });

  it("names the first weight matrix whose input is the same for all tokens, or the last one", () => {
    const named =
      (...calibration: [string, ActivationStatistics][]) =>
      () =>
        assertVaries(alike, statistics(...calibration));
    expect(named(["first", varying], ["second", constant], ["third", constant])).toThrow(
      "The model computes the same result for every text: the input of second is the same for all tokens.",
    );
    expect(named(["first", varying], ["last", varying])).toThrow(
      "The model computes the same result for every text: the input of last differs between texts, but the model's result does not.",
    );
    expect(named()).toThrow(/for every text\.$/);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])("does not count %d as a difference", (value) => {
    const work = () => assertVaries([vector(1, 2), vector(value, 2)], statistics(["last", varying]));
    expect(work).toThrow("The float32 model computes NaN or infinite numbers after last.");
    expect(refusal(work)).toBe("vector_invalid");
  });
});
