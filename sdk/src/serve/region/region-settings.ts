import { BertEdgeError } from "../../artifact/error.ts";

/** Access of an AWS user who may invoke the region's function URL. */
export interface AwsAccess {
  accessKeyId: string;
  secretAccessKey: string;
  /** The AWS region of the function, for example `eu-central-1`. Default: the one in the function's URL. */
  region?: string | undefined;
  /** Default `lambda`. */
  service?: string | undefined;
}

export interface RegionAddress {
  /** The region's URL, for example `https://region.example.com`. Paths are appended to its path. */
  url: string;
  /** The region's API key. It can be empty if `aws` is given and the region asks for no key. */
  key: string;
  /** Signs requests for an AWS function URL whose authorizer is `aws_iam`. The key then travels in `x-api-key`. */
  aws?: AwsAccess | undefined;
}

/** Settings that have been checked. */
export interface RegionSettings {
  /** Ends with a slash, and has no credentials, query or fragment. */
  readonly base: URL;
  /** Printable ASCII without white space; empty without a key. */
  readonly key: string;
  readonly aws: { accessKeyId: string; secretAccessKey: string; region?: string; service: string } | undefined;
}

/**
 * Checks the settings of a region. White space around a setting is ignored, because values are often pasted. Messages name
 * the setting and never show its value.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function regionSettings({ url, key, aws }: RegionAddress): RegionSettings {
  const access = aws && {
    accessKeyId: headerText("REGION_AWS_ACCESS_KEY_ID", aws.accessKeyId),
    secretAccessKey: headerText("REGION_AWS_SECRET_ACCESS_KEY", aws.secretAccessKey),
    ...(aws.region !== undefined && { region: headerText("REGION_AWS_REGION", aws.region) }),
    service: aws.service ?? "lambda",
  };
  const keyless = access !== undefined && (key ?? "").trim() === "";
  return { base: baseOf(url), key: keyless ? "" : headerText("REGION_KEY", key), aws: access };
}

function baseOf(url: string): URL {
  const base = URL.parse(String(url).trim());
  if (!base) throw invalid("REGION_URL", "is not a complete URL");
  if (base.protocol !== "https:" && base.protocol !== "http:")
    throw invalid("REGION_URL", "is not an http or https URL");
  if (base.username || base.password) throw invalid("REGION_URL", "contains credentials");
  if (base.search || base.hash) throw invalid("REGION_URL", "has a query or a fragment");
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return base;
}

/** Returns a text that fits into a header of every platform: clients and servers disagree about all other characters. */
function headerText(setting: string, value: string | undefined): string {
  const text = value?.trim() ?? "";
  if (text === "") throw invalid(setting, "is missing");
  if (!/^[!-~]+$/.test(text)) throw invalid(setting, "contains characters that a header cannot carry");
  return text;
}

function invalid(setting: string, fault: string): BertEdgeError {
  const hint =
    setting === "REGION_URL"
      ? "Set REGION_URL to a URL such as https://region.example.com, or leave it out."
      : `Set ${setting} to one line of printable ASCII characters without blanks.`;
  return new BertEdgeError("setting_invalid", `The setting ${setting} of the region ${fault}.`, { hint });
}
