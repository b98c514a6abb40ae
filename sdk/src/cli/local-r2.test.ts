import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { userProject } from "#test/e2e/project.ts";
import { openProjectBucket } from "./local-r2.ts";

it("refuses a bucket that the project does not bind, and names those that it does", async () => {
  const { root, remove } = await userProject();
  onTestFinished(remove);
  const config = join(root, "wrangler.toml");
  await expect(openProjectBucket(root, "elsewhere")).rejects.toMatchObject({
    code: "project_invalid",
    message: `${config} has no R2 binding to the bucket elsewhere.`,
    hint: "Publish to one of its buckets: r2-local:bert-edge-models.",
  });
  await writeFile(config, (await readFile(config, "utf8")).replace("[[r2_buckets]]", "[[not_r2]]"));
  await expect(openProjectBucket(root, "elsewhere")).rejects.toMatchObject({
    hint: expect.stringMatching(/^Add an \[\[r2_buckets\]\] section .*bucket_name = "elsewhere" to wrangler\.toml\.$/),
  });
});
