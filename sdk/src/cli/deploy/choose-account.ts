import { BertEdgeError } from "../../artifact/error.ts";
import { shown } from "../../artifact/shown.ts";
import type { WranglerConfig } from "../wrangler/config.ts";
import type { Account } from "./wrangler-calls.ts";

export interface ChosenAccount {
  readonly id: string;
  /** Where it comes from, such as `CLOUDFLARE_ACCOUNT_ID in .env`. */
  readonly from: string;
}

/**
 * Chooses the Cloudflare account to deploy to, as wrangler does: account_id of the configuration, then CLOUDFLARE_ACCOUNT_ID.
 *
 * @param accounts accounts of who is logged in; undefined if nobody is
 * @throws BertEdgeError `login_missing` when a person has to log in, or has to choose; `setting_invalid` if the login has no such account
 */
export function chooseAccount(
  accounts: readonly Account[] | undefined,
  { account, variable }: Pick<WranglerConfig, "account" | "variable">,
): ChosenAccount {
  if (!accounts) {
    throw new BertEdgeError("login_missing", "wrangler is not logged in to Cloudflare.", {
      hint: "Once: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN. Nothing was changed.",
    });
  }
  const named = variable("CLOUDFLARE_ACCOUNT_ID") ?? variable("CF_ACCOUNT_ID");
  const wished = account ? { id: account, from: "account_id" } : named && { id: named.value, from: named.from };
  const names = accounts.map(({ id, name }) => `${id} (${name})`).join(", ");
  // A token may show no account, and can be for one.
  if (wished && (accounts.length === 0 || accounts.some(({ id }) => id === wished.id))) return wished;
  if (wished) {
    throw new BertEdgeError(
      "setting_invalid",
      `The login has no access to the account ${shown(wished.id)} (${wished.from}).`,
      {
        hint: `Correct it: the login has ${names}. Or run \`npx wrangler login\` as somebody else. Nothing was changed.`,
      },
    );
  }
  const [only, ...others] = accounts;
  if (only && others.length === 0) return { id: only.id, from: "the only one of the login" };
  throw new BertEdgeError("login_missing", `There are several Cloudflare accounts: ${names || "none"}.`, {
    hint: "Once: set account_id in wrangler's configuration, or the variable CLOUDFLARE_ACCOUNT_ID, also in .env. Nothing was changed.",
  });
}
