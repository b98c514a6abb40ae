import { modelName, type Project } from "../project.ts";
import { replaceOnce } from "./replace-once.ts";

export const bucketName = ({ name, bucket }: Project): string => bucket ?? `${name}-models`;

/** The section of wrangler.toml that only onnxruntime-web needs. It is the last one. */
const ORT_WEB_SECTION = /\n# onnxruntime-web .*\n(\[define\]\n.*\n)$/;

/** Returns the lines that README.md adds to wrangler.toml for onnxruntime-web. */
export function ortWebSection(source: string): string {
  const [, lines] = ORT_WEB_SECTION.exec(source) ?? [];
  if (lines === undefined) throw new Error("wrangler.toml does not end with the section for onnxruntime-web.");
  return lines;
}

export function wranglerToml(source: string, project: Project): string {
  const values = { name: project.name, MODEL: modelName(project), bucket_name: bucketName(project) };
  return Object.entries(values).reduce(
    (toml, [key, value]) => replaceOnce(toml, new RegExp(`^${key} = ".*"$`, "m"), `${key} = "${value}"`),
    replaceOnce(source, ORT_WEB_SECTION, ""),
  );
}
