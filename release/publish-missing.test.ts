import { expect, it } from "vitest";
import { publishMissing, type RunNpm } from "./publish-missing.ts";

const manifests = new Map([
  ["sdk", { name: "bert-edge", version: "0.2.0" }],
  ["create-bert-edge", { name: "create-bert-edge", version: "0.2.0" }],
]);

/** An npm where `view` answers for each package, and `publish` succeeds. */
function npmWith(views: Readonly<Record<string, ReturnType<RunNpm>>>) {
  const published: string[] = [];
  const npm: RunNpm = ([command, ...args]) => {
    if (command === "view") return views[args[0] ?? ""] ?? { code: 0, output: "" };
    published.push(args.at(-1) ?? "");
    return { code: 0, output: "" };
  };
  return { npm, published };
}

it("publishes the SDK first, then the scaffolder", () => {
  const { npm, published } = npmWith({ "create-bert-edge@0.2.0": { code: 1, output: "npm error code E404" } });
  publishMissing(manifests, npm, () => {});
  expect(published).toEqual(["sdk", "create-bert-edge"]);
});

it("publishes only what an earlier run has not published", () => {
  const { npm, published } = npmWith({ "bert-edge@0.2.0": { code: 0, output: "0.2.0\n" } });
  publishMissing(manifests, npm, () => {});
  expect(published).toEqual(["create-bert-edge"]);
});

it("publishes nothing if npm cannot tell", () => {
  const { npm, published } = npmWith({ "bert-edge@0.2.0": { code: 1, output: "npm error code EAI_AGAIN" } });
  expect(() => publishMissing(manifests, npm, () => {})).toThrow("EAI_AGAIN");
  expect(published).toEqual([]);
});

it("stops when npm refuses a package", () => {
  const npm: RunNpm = ([command]) => ({ code: command === "view" ? 0 : 1, output: command === "view" ? "" : "E403" });
  expect(() => publishMissing(manifests, npm, () => {})).toThrow(/bert-edge@0\.2\.0:\nE403/);
});
