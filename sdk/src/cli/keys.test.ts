import { expect, it } from "vitest";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";

it("makes a key, and hashes it to the entry that it printed, without the key as an argument", async () => {
  const made = await runCommandLine(["keys", "new", "--name", "web"]);
  const key = made.stdout.trim();
  expect([made.code, key]).toEqual([0, expect.stringMatching(/^[\w-]{43}$/)]);
  expect(made.stderr).not.toContain(key);
  const hashed = await runCommandLine(["keys", "hash", "--name", "web"], { stdin: made.stdout });
  expect(hashed).toEqual({ code: 0, stderr: "", stdout: expect.stringMatching(/^web:sha256:[0-9a-f]{64}\n$/) });
  expect(made.stderr.endsWith(hashed.stdout)).toBe(true);
});

it("prints one JSON document with --json", async () => {
  const { key, entry } = JSON.parse((await runCommandLine(["keys", "new", "--json"])).stdout);
  const hashed = await runCommandLine(["keys", "hash", "--json"], { stdin: key });
  expect(JSON.parse(hashed.stdout)).toEqual({ entry });
  const signer = JSON.parse((await runCommandLine(["keys", "signer", "--json"])).stdout);
  expect(signer).toEqual({
    privateKey: expect.stringContaining("PRIVATE KEY"),
    signer: expect.stringMatching(/^ed25519:[0-9a-f]{64}$/),
  });
});

it.each(["", "short", "two words that are long enough", "n".repeat(19)])("refuses to hash %j", async (stdin) => {
  const { code, stdout, stderr } = await runCommandLine(["keys", "hash"], { stdin });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("Error setting_invalid");
});

it("hashes a key of 20 characters", async () => {
  expect(await runCommandLine(["keys", "hash"], { stdin: "n".repeat(20) })).toMatchObject({ code: 0, stderr: "" });
});
