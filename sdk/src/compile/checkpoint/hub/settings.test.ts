import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { hubCacheFolder, hubSettings } from "./settings.ts";

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
