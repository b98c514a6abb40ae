import { symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { hubCacheFolder, hubSettings, hubToken } from "./settings.ts";

/** No file with a token of this machine is read. */
const withoutFile = { HF_HUB_DISABLE_IMPLICIT_TOKEN: "1" };

describe("hubSettings", () => {
  it("asks huggingface.co without a token by default", async () => {
    const { endpoint, token } = hubSettings({ HF_HOME: await temporaryFolder() });
    expect({ endpoint: endpoint.href, token }).toEqual({ endpoint: "https://huggingface.co/", token: undefined });
  });

  it("reads the endpoint and the token", () => {
    const { endpoint, token } = hubSettings({ HF_ENDPOINT: "https://hub.example.com/hf", HF_TOKEN: " hf_abc\n" });
    expect({ endpoint: endpoint.href, token }).toEqual({
      endpoint: "https://hub.example.com/hf",
      token: { value: "hf_abc", source: "HF_TOKEN" },
    });
  });

  it.each(["http://127.0.0.1:8080", "http://localhost:8080"])("allows http on this machine: %s", (HF_ENDPOINT) => {
    expect(hubSettings({ HF_ENDPOINT, ...withoutFile }).endpoint.href).toBe(`${HF_ENDPOINT}/`);
  });

  it.each([
    "http://huggingface.co",
    "http://127.0.0.1.example.com",
    "ftp://localhost",
    "hub",
    "https://me:secret@hub.example.com",
  ])("refuses the endpoint %s", (HF_ENDPOINT) => {
    expect(refusal(() => hubSettings({ HF_ENDPOINT, ...withoutFile }))).toBe("setting_invalid");
    expect(() => hubSettings({ HF_ENDPOINT, ...withoutFile })).not.toThrow(/secret/);
  });
});

describe("hubCacheFolder", () => {
  it.each<[NodeJS.Platform, NodeJS.ProcessEnv, string]>([
    ["linux", { HF_HUB_CACHE: "/a", HF_HOME: "/b" }, resolve("/a")],
    ["linux", { HF_HOME: "/b" }, resolve("/b/hub")],
    ["linux", { XDG_CACHE_HOME: "/c" }, join("/c", "bert-edge/hub")],
    ["linux", { XDG_CACHE_HOME: "relative" }, join(homedir(), ".cache/bert-edge/hub")],
    ["darwin", {}, join(homedir(), "Library/Caches/bert-edge/hub")],
    ["win32", { LOCALAPPDATA: "/local" }, join("/local", "bert-edge/hub")],
  ])("on %s with %j is %s", (platform, env, folder) => {
    expect(hubCacheFolder(env, platform)).toBe(folder);
  });
});

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
