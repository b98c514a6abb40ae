import { describe, expect, it } from "vitest";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { TargetName } from "../../../artifact/manifest.ts";
import { oneModel } from "../engine.ts";
import { ortNodeEngine } from "./index.ts";

/** Returns the model files of an artifact with these targets. Their bytes are not a valid model. */
const sourceWith = (...targets: TargetName[]) => ({
  ...oneModel(new Uint8Array(9)),
  async read(target: TargetName) {
    if (targets.includes(target)) return new Uint8Array(9);
    throw new BertEdgeError("target_missing", `no ${target}`);
  },
});

describe("ortNodeEngine", () => {
  const engine = ortNodeEngine({ providers: ["cuda", "cpu"] });

  it("reports missing targets when that is the only reason why it cannot load", async () => {
    await expect(engine.load(sourceWith("edge"))).rejects.toMatchObject({ code: "target_missing" });
  });

  it("reports why it could not load the files that exist", async () => {
    await expect(engine.load(sourceWith("regional-cpu"))).rejects.toMatchObject({
      code: "engine_failed",
      cause: { errors: [{ code: "target_missing" }, expect.any(Error)] },
    });
  });
});
