import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runAction } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { importSigningKey, newSigningKey } from "../artifact/signing-key.ts";
import { memoryStore } from "../storage/memory.ts";
import { publishCommand } from "./publish.ts";
import { expiryDays, signingOf } from "./signing.ts";

afterEach(() => vi.unstubAllEnvs());

async function keyFile(content: string): Promise<string> {
  const path = join(await temporaryFolder(), "signing.key");
  await writeFile(path, content);
  return path;
}

describe("signingOf", () => {
  it("does not sign if there is neither a file nor the variable", async () => {
    vi.stubEnv("BERT_EDGE_SIGNING_KEY", undefined);
    const store = memoryStore();
    expect(await signingOf(store)).toEqual({ store, signing: undefined });
  });

  it("refuses an empty file and an empty variable, such as a secret that CI does not have", async () => {
    const refused = { code: "signing_key_invalid" };
    await expect(signingOf(memoryStore(), { signingKey: await keyFile("") })).rejects.toMatchObject(refused);
    vi.stubEnv("BERT_EDGE_SIGNING_KEY", "");
    await expect(signingOf(memoryStore())).rejects.toMatchObject(refused);
  });

  it("verifies pointers with the key and with MODEL_SIGNERS, also if nothing is signed", async () => {
    const pem = await newSigningKey();
    const { signer } = await importSigningKey(pem);
    const signed = await signingOf(memoryStore(), { signingKey: await keyFile(pem) });
    expect(signed).toMatchObject({ store: { verifyPointer: expect.any(Function) }, signing: { key: { signer } } });
    vi.stubEnv("MODEL_SIGNERS", signer);
    const reading = await signingOf(memoryStore());
    expect(reading).toMatchObject({ store: { verifyPointer: expect.any(Function) }, signing: undefined });
  });
});

describe("--expires", () => {
  it("takes 1 to 3650 days", () => {
    expect(["1", "3650"].map(expiryDays)).toEqual([1, 3650]);
    for (const wrong of ["0", "3651", "200000000", "x"])
      expect(() => expiryDays(wrong), wrong).toThrow(/from 1 to 3650/);
  });

  it("is checked before anything is published", async () => {
    const args = ["artifact", "--to", "folder:x", "--expires", "200000000"];
    await expect(runAction(publishCommand, ...args)).rejects.toThrow(/from 1 to 3650/);
  });
});
