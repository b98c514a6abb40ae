import { BertEdgeError } from "../../artifact/error.ts";
import type { Account } from "./wrangler-calls.ts";

/**
 * Chooses the Cloudflare account to deploy to.
 *
 * @param accounts accounts of who is logged in; undefined if nobody is
 * @param wished account_id in wrangler's configuration, or CLOUDFLARE_ACCOUNT_ID
 * @throws BertEdgeError `login_missing` when a person has to log in, or has to choose
 */
export function chooseAccount(accounts: readonly Account[] | undefined, wished: string | undefined): string {
  if (!accounts) {
    throw new BertEdgeError("login_missing", "wrangler is not logged in to Cloudflare.", {
      hint: "Once: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN. Nothing was changed.",
    });
  }
  if (wished !== undefined) return wished;
  const [only, ...others] = accounts;
  if (only && others.length === 0) return only.id;
  const names = accounts.map(({ id, name }) => `${id} (${name})`).join(", ");
  throw new BertEdgeError("login_missing", `There are several Cloudflare accounts: ${names || "none"}.`, {
    hint: "Once: set account_id in wrangler's configuration, or the variable CLOUDFLARE_ACCOUNT_ID. Nothing was changed.",
  });
}
