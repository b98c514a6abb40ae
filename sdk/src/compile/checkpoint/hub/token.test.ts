import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { hubToken } from "./token.ts";

describe("hubToken", () => {
  it("is HF_TOKEN, before every file", async () => {
    const HF_HOME = await folderWith({ token: "hf_file" });
    expect(hubToken({ HF_HOME, HF_TOKEN: " hf_abc\n" })).toEqual({ value: "hf_abc", source: "HF_TOKEN" });
  });

  it("is in the file that the Hub's own tool writes", async () => {
    const folder = await folderWith({ token: "hf_home\n", "huggingface/token": "hf_cache", "other/mine": "hf_path" });
    expect(hubToken({ HF_HOME: folder })).toEqual({ value: "hf_home", source: join(folder, "token") });
    expect(hubToken({ XDG_CACHE_HOME: folder })).toMatchObject({ value: "hf_cache" });
    expect(hubToken({ HF_HOME: folder, HF_TOKEN_PATH: join(folder, "other/mine") })).toMatchObject({
      value: "hf_path",
    });
    expect(hubToken({ HF_HOME: folder, HF_TOKEN: "" })).toMatchObject({ value: "hf_home" });
    expect(hubToken({ HF_HOME: folder, HF_HUB_DISABLE_IMPLICIT_TOKEN: "1" })).toBeUndefined();
  });

  it("may be missing", async () => {
    const HF_HOME = await temporaryFolder();
    expect(hubToken({ HF_HOME })).toBeUndefined();
    await writeFile(join(HF_HOME, "token"), "\n");
    expect(hubToken({ HF_HOME })).toBeUndefined();
  });

  it("is refused if it cannot be sent, and is not repeated", async () => {
    const HF_HOME = await folderWith({ token: "hf_a b" });
    for (const env of [{ HF_TOKEN: "hf_a\r\nx-other: b" }, { HF_HOME }]) {
      expect(refusal(() => hubToken(env))).toBe("setting_invalid");
      expect(() => hubToken(env)).not.toThrow(/hf_a/);
    }
  });

  it("says that its file cannot be read", async () => {
    const HF_HOME = await temporaryFolder();
    await symlink("token", join(HF_HOME, "token"));
    expect(refusal(() => hubToken({ HF_HOME }))).toBe("setting_invalid");
  });
});
