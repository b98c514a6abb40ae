import { BertEdgeError } from "../artifact/error.ts";
import type { S3Options } from "./s3.ts";
import { readerNames, s3Location } from "./s3-address.ts";

export type { S3Options };

/**
 * Environment variables or Worker bindings that locate the models. AWS Lambda sets the variables that begin with
 * `AWS_`.
 */
export type S3Env = Partial<
  Record<
    | "S3_ENDPOINT"
    | "S3_BUCKET"
    | "S3_PREFIX"
    | "S3_ACCESS_KEY_ID"
    | "S3_SECRET_ACCESS_KEY"
    | "AWS_ENDPOINT_URL_S3"
    | "AWS_ENDPOINT_URL"
    | "AWS_REGION"
    | "AWS_ACCESS_KEY_ID"
    | "AWS_SECRET_ACCESS_KEY"
    | "AWS_SESSION_TOKEN",
    string
  >
>;

/**
 * Returns options for `s3Store` from environment variables. If `S3_ACCESS_KEY_ID` is not set, uses the credentials of
 * the AWS function's role. If no variable names an endpoint, uses the endpoint of AWS. `AWS_REGION` counts only if the endpoint names no
 * region.
 *
 * @throws BertEdgeError `setting_invalid` when a variable is missing or cannot be right; the message names the variable
 */
export function s3Settings(env: S3Env): S3Options {
  const need = (name: keyof S3Env): string => {
    const value = env[name];
    if (value) return value;
    throw new BertEdgeError("setting_invalid", `The setting ${name} is missing, so no model can be read.`, {
      hint: "Set S3_BUCKET, and on AWS AWS_REGION. Elsewhere, also set S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.",
    });
  };
  const given = (["S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"] as const).find((name) => env[name]);
  const bucket = need("S3_BUCKET");
  const endpoint = given ? need(given) : `https://s3.${need("AWS_REGION")}.amazonaws.com`;
  const { region = "auto", ...location } = s3Location(
    { endpoint, bucket, otherwise: env.AWS_REGION || undefined },
    { ...readerNames, endpoint: given ?? "AWS_REGION" },
  );
  const place = {
    ...location,
    region,
    ...(env.S3_PREFIX && { prefix: env.S3_PREFIX }),
  };
  if (env.S3_ACCESS_KEY_ID !== undefined || env.AWS_ACCESS_KEY_ID === undefined) {
    return { ...place, accessKeyId: need("S3_ACCESS_KEY_ID"), secretAccessKey: need("S3_SECRET_ACCESS_KEY") };
  }
  return {
    ...place,
    accessKeyId: env.AWS_ACCESS_KEY_ID,
    secretAccessKey: need("AWS_SECRET_ACCESS_KEY"),
    ...(env.AWS_SESSION_TOKEN && { sessionToken: env.AWS_SESSION_TOKEN }),
  };
}
