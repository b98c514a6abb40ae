import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { assetsPublisher } from "../storage/assets-publisher.ts";
import { fsStore } from "../storage/fs.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";

let artifact: string;
beforeAll(async () => {
  artifact = await preparedTiny();
});

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout } = await runCommandLine([...args, "--json"], { env });
  return { code, json: JSON.parse(stdout) };
}

describe("publish", () => {
  it.each([
    ["static assets", "assets", assetsPublisher],
    ["objects for MODELS_FOLDER", "folder", fsStore],
  ])("writes %s into a folder", async (_, kind, storeOf) => {
    const target = await temporaryFolder();
    const { code, stdout } = await runCommandLine(["publish", artifact, "--to", `${kind}:${target}`]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`is current at ${target} (`) });
    const store = storeOf(target);
    const published = await openPublished(store, await readPointer(store, "tiny"));
    for (const file of Object.keys(published.manifest.files)) await published.read(file);
  });

  it("prints one JSON document on stdout, and each object on stderr", async () => {
    const target = await temporaryFolder();
    const args = ["publish", artifact, "--to", `folder:${target}`, "--verify"];
    const first = await runCommandLine([...args, "--json"]);
    const result = JSON.parse(first.stdout) as { version: string; uploaded: number };
    expect([first.code, result]).toEqual([
      0,
      {
        name: "tiny",
        version: expect.stringMatching(/^[0-9a-f]{12}$/),
        uploaded: expect.any(Number),
        reused: 0,
        bytes: expect.any(Number),
        verifiedBytes: expect.any(Number),
      },
    ]);
    expect(first.stderr.match(/^uploaded blobs\/sha256\/[0-9a-f]{64}$/gm)).toHaveLength(result.uploaded);
    const again = await runCommandLine(args);
    expect(again.stdout).toMatch(
      new RegExp(
        `^tiny@${result.version} is current at ${target} \\(0 objects, 0\\.0 MB sent, \\d\\.\\d MB read back\\)\\.\n$`,
      ),
    );
    expect(again.stderr.match(/^reused /gm)).toHaveLength(result.uploaded);
  });

  it("signs versions, which are then never replaced by unsigned ones", async () => {
    const folder = await temporaryFolder();
    const key = join(folder, "signing.key");
    const made = await runCommandLine(["keys", "signer"]);
    await writeFile(key, made.stdout);
    const [signer = ""] = /ed25519:[0-9a-f]{64}/.exec(made.stderr) ?? [];
    const place = `folder:${join(folder, "signed")}`;
    const sign = ["--signing-key", key, "--expires", "30"];
    const { version } = (await run(["publish", artifact, "--to", place, ...sign, "--verify"])).json;
    const [first] = (await run(["list", "--store", place])).json;
    expect(first).toMatchObject({ version, isCurrent: true, signed: { signer } });
    expect((Date.parse(first.signed.expires) - Date.now()) / 86_400_000).toBeCloseTo(30, 1);
    const missing = { code: 1, json: { error: { code: "signing_key_missing" } } };
    expect(await run(["publish", artifact, "--to", place])).toMatchObject(missing);
    expect(await run(["promote", `tiny@${version}`, "--store", place])).toMatchObject(missing);
    const env = { BERT_EDGE_SIGNING_KEY: made.stdout };
    expect(await run(["promote", `tiny@${version}`, "--store", place], env)).toMatchObject({ code: 0 });
    const [again] = (await run(["list", "--store", place])).json;
    expect(again.signed.sequence).toBeGreaterThan(first.signed.sequence);
  });

  it.each([
    ["a file that does not exist", "nowhere.key"],
    ["a file without a key", "package.json"],
  ])("refuses %s as the signing key", async (_, file) => {
    const folder = await temporaryFolder();
    const args = ["publish", artifact, "--to", `folder:${folder}/x`, "--signing-key", file];
    const { code, stdout, stderr } = await runCommandLine(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("Error signing_key_invalid");
  });
});
