import { describe, expect, it } from "vitest";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { TargetName } from "../../../artifact/manifest.ts";
import { oneModel } from "../engine.ts";
import { ortNodeEngine } from "./index.ts";

/** Model files of an artifact with these targets. The files are no models. */
const sourceWith = (...targets: TargetName[]) => ({
  ...oneModel(new Uint8Array(9)),
  async read(target: TargetName) {
    if (targets.includes(target)) return new Uint8Array(9);
    throw new BertEdgeError("target_missing", `no ${target}`);
  },
});

describe("ortNodeEngine", () => {
  const engine = ortNodeEngine({ providers: ["cuda", "cpu"] });

  it("says that targets are missing where no other reason keeps it from loading", async () => {
    await expect(engine.load(sourceWith("edge"))).rejects.toMatchObject({ code: "target_missing" });
  });

  it("says why it could not load what is there", async () => {
    await expect(engine.load(sourceWith("regional-cpu"))).rejects.toMatchObject({
      code: "engine_failed",
      cause: { errors: [{ code: "target_missing" }, expect.any(Error)] },
    });
  });
});
