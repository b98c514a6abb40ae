import { afterEach, expect, it, vi } from "vitest";
import { smallPlan } from "#test/fixtures/small-plan.ts";
import { assertSameAsWrangler } from "./deploy-plan.ts";

const planned = (models: readonly string[], model: string | undefined) =>
  assertSameAsWrangler({ ...smallPlan, models }, { tag: "", worker: "api", bucket: smallPlan.bucket, model });

afterEach(() => void vi.unstubAllEnvs());

it("names the variable by which a build service names the Worker", () => {
  vi.stubEnv("WRANGLER_CI_OVERRIDE_NAME", "ci");
  const seen = { tag: "", worker: "ci", bucket: smallPlan.bucket, model: "small" };
  expect(() => assertSameAsWrangler(smallPlan, seen)).toThrow(
    expect.objectContaining({ hint: expect.stringContaining("Unset WRANGLER_CI_OVERRIDE_NAME") }),
  );
});

it("compares MODEL, also where wrangler cuts it", () => {
  expect(() => planned(["small"], "other")).toThrow("MODEL is small here and other there");
  expect(() => planned(["small"], undefined)).toThrow("MODEL is small here and none there");
  expect(() => planned(["small", "large"], " small, large,")).not.toThrow();
  const models = ["paraphrase-multilingual-minilm", "all-minilm-l6-v2"];
  expect(() => planned(models, "paraphrase-multilingual-minilm, all-m...")).not.toThrow();
  expect(() => planned(models, "paraphrase-multilingual-minilm,...")).not.toThrow();
  expect(() => planned(models, "paraphrase-multilingual-minilm, tiny,...")).toThrow("MODEL is");
});
