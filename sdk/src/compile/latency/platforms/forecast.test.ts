import { describe, expect, it } from "vitest";
import { sampleManifest, sampleMeasurements } from "#test/fixtures/sample-report.ts";
import { forecastOf } from "./forecast.ts";

const usedBy = (forecast: ReturnType<typeof forecastOf>, platform: string) =>
  Object.fromEntries(
    forecast.fit.platforms.find((each) => each.platform === platform)?.limits.map(({ limit, used }) => [limit, used]) ??
      [],
  );

describe("forecastOf", () => {
  it("predicts each timed target for lengths up to the model's maximum", () => {
    const { latency, fit } = forecastOf(sampleManifest, sampleMeasurements, "CPU");
    expect(latency).toMatchObject({ cpu: "CPU", tokens: [8, 32, 128, 256] });
    expect(Object.keys(latency.ms)).toEqual(["edge", "regional-cpu"]);
    expect(latency.ms.edge?.[2]).toBeCloseTo(0.2 + 0.05 * 128 + 0.0001 * 128 ** 2, 12);
    expect(fit.tokens).toBe(128);
  });

  it("counts WebAssembly memory and tokenizer at the edge, and the process in a region", () => {
    const forecast = forecastOf(sampleManifest, sampleMeasurements);
    expect(usedBy(forecast, "workers-paid").memory).toBe(21_430_272 + 600_000);
    // What was measured for this file is 162 MB: REGION_BASE_BYTES.
    const { memory = 0 } = usedBy(forecast, "aws-lambda-2048");
    expect(Math.abs(memory / 162e6 - 1)).toBeLessThan(0.05);
    expect(usedBy(forecast, "gpu").memory).toBe(34_500_000);
  });

  it("counts tokenizer.json at the edge with what it may take in memory", () => {
    const tokenizer = { kind: "json", json: "tokenizer.safetensors", config: "tokenizer.safetensors" } as const;
    const forecast = forecastOf({ ...sampleManifest, tokenizer }, sampleMeasurements);
    const edge = forecast.fit.platforms.find(({ platform }) => platform === "workers-paid");
    expect(edge).toMatchObject({ fits: false, binding: { limit: "memory" } });
  });

  it("has only platforms of targets that the artifact has", () => {
    const { edge } = sampleManifest.targets;
    const { fit } = forecastOf({ ...sampleManifest, targets: edge ? { edge } : {} }, sampleMeasurements);
    expect(fit.platforms.map(({ platform }) => platform)).toEqual(["workers-free", "workers-paid"]);
  });

  it("takes requests of the model's maximum length if that is shorter", () => {
    expect(forecastOf({ ...sampleManifest, maxTokens: 64 }, sampleMeasurements).fit.tokens).toBe(64);
  });
});
