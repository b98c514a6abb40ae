import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { BertEdge } from "#sdk/client/bert-edge.ts";
import { s3Env } from "../fixtures/object-storage.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { wranglerDev } from "./project.ts";
import { publishedModel } from "./published-model.ts";

it("the Worker of infra/wrangler.s3.toml answers with a model that it reads over the S3 protocol", async () => {
  const { access, manifest, stop } = await publishedModel();
  onTestFinished(stop);
  const folder = await temporaryFolder();
  const vars = { API_KEYS: "key", ...s3Env(access) };
  const lines = Object.entries(vars).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(folder, "vars"), lines.join(""));
  const worker = await wranglerDev(process.cwd(), {
    args: [...["--config", "infra/wrangler.s3.toml"], ...["--env-file", join(folder, "vars"), "--persist-to", folder]],
  });
  onTestFinished(() => worker.stop());

  const edge = new BertEdge({ baseURL: worker.url, apiKey: "key" });
  const { embeddings, model, tier } = await edge.embed("to be or not to be");
  expect({ model, tier }).toEqual({ model: manifest.name, tier: "edge" });
  expect(embeddings[0]).toHaveLength(manifest.dimensions);
});
