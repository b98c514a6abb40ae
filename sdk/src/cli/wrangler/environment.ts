import { basename } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { shown } from "../../artifact/shown.ts";
import { meantNames } from "../../artifact/similar-names.ts";
import type { Variables } from "./variables.ts";

/** An environment of wrangler's configuration: `[env.<name>]`. */
export interface Environment {
  /** Undefined for the top level. */
  readonly name: string | undefined;
  /** The option or the variable that chose it, such as `--env` or `CLOUDFLARE_ENV in .env`; undefined if nothing did. */
  readonly from: string | undefined;
  /** The option `--env`, if it was given. */
  readonly option: string | undefined;
  /** Names of all environments of the configuration. */
  readonly all: readonly string[];
}

interface Choice {
  /** The option `--env`. The empty text is the top level. */
  readonly option: string | undefined;
  readonly variable: Variables;
  readonly all: readonly string[];
}

/**
 * Chooses an environment as wrangler does: `--env`, or CLOUDFLARE_ENV.
 *
 * @param path path of the configuration file
 * @throws BertEdgeError `setting_invalid` if the configuration has no such environment
 */
export function chooseEnvironment(path: string, { option, variable, all }: Choice): Environment {
  const chosen = option === undefined ? variable("CLOUDFLARE_ENV") : { value: option, from: "--env" };
  const name = chosen?.value || undefined;
  if (name === undefined || all.includes(name)) return { name, from: chosen?.from, option, all };
  const what = `${basename(path)} has no environment ${shown(name)} (${chosen?.from}).${meantNames(name, all)}`;
  const others = all.length > 0 ? `It has ${all.join(", ")}` : "It has no environments";
  throw new BertEdgeError("setting_invalid", what, {
    hint: `${others}: give ${all[0] ? `--env ${all[0]}, or ` : ""}--env "" for the top level. Or add the environment to ${basename(path)}.`,
  });
}

/** Describes an environment to the user. */
export const environmentText = ({ name, from, all }: Environment): string => {
  const others = all.length > 0 && from === undefined ? `; --env chooses ${all.join(" or ")}` : "";
  return `${name === undefined ? "the top level" : `the environment ${name}`}${from ? ` (${from})` : ""}${others}`;
};

/**
 * Returns the arguments and variables with which a call of wrangler uses this configuration and environment. `--env` also makes wrangler
 * read `.env.<name>`, so the call has `--env` only if the user gave it.
 *
 * @param config the configuration file, relative to the folder of the call
 */
export function wranglerSelection(config: string, { name, option }: Environment) {
  const environment = option === undefined ? [] : ["--env", option];
  return {
    args: ["--config", config, ...environment],
    /** The arguments for a configuration that wrangler finds by itself. */
    environment,
    env: name === undefined || option !== undefined ? {} : { CLOUDFLARE_ENV: name },
  };
}

/** Returns the option for a command of wrangler that the user is to run: ` --env staging`. */
export const envFlag = ({ name }: Environment): string => (name === undefined ? "" : ` --env ${name}`);
