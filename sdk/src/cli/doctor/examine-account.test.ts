import { describe, expect, it } from "vitest";
import { BertEdgeError } from "../../artifact/error.ts";
import { type AccountCalls, examineAccount } from "./examine-account.ts";

const config: Parameters<typeof examineAccount>[0] = {
  ...{ account: undefined, variable: () => undefined },
  environment: { name: "staging", from: "--env", option: "staging", all: ["staging"] },
  deployedBucket: { name: "my-models", jurisdiction: "eu" },
};
const calls: AccountCalls = {
  accounts: async () => [{ id: "a1", name: "Me" }],
  useAccount: () => {},
  hasBucket: async () => true,
  secretNames: async () => ["API_KEYS"],
};
const levels = async (changes: Partial<AccountCalls>) =>
  (await examineAccount(config, () => ({ ...calls, ...changes }))).map(({ check, level, fix }) => [check, level, fix]);

describe("examineAccount", () => {
  it("finds login, bucket and secrets in order", async () => {
    expect(await levels({})).toEqual([
      ["login", "ok", undefined],
      ["bucket", "ok", undefined],
      ["secrets", "ok", undefined],
    ]);
  });

  it("says how to log in, and examines nothing else", async () => {
    expect(await levels({ accounts: async () => undefined })).toEqual([["login", "note", "npx wrangler login"]]);
  });

  it("asks to choose among several accounts", async () => {
    const accounts = async () => [
      { id: "a1", name: "Me" },
      { id: "a2", name: "Work" },
    ];
    expect(await levels({ accounts })).toEqual([["login", "broken", expect.stringContaining("account_id")]]);
  });

  it("finds a missing bucket, and missing keys", async () => {
    expect(await levels({ hasBucket: async () => false, secretNames: async () => [] })).toEqual([
      ["login", "ok", undefined],
      ["bucket", "broken", expect.stringContaining("npx wrangler r2 bucket create my-models --jurisdiction eu,")],
      ["secrets", "note", "npx wrangler secret put API_KEYS --env staging"],
    ]);
  });

  it("reports what wrangler says when it fails", async () => {
    const hasBucket = async () => {
      throw new BertEdgeError("deploy_failed", "wrangler r2 bucket info ended with 1", { hint: "Read it." });
    };
    expect(await levels({ hasBucket })).toEqual([["login", "broken", "Read it."]]);
  });
});
