import { modelName, type Project } from "../project.ts";
import { replaceOnce } from "./replace-once.ts";

export const bucketName = ({ name }: Project): string => `${name}-models`;

export function wranglerToml(source: string, project: Project): string {
  const values = { name: project.name, MODEL: modelName(project), bucket_name: bucketName(project) };
  return Object.entries(values).reduce(
    (toml, [key, value]) => replaceOnce(toml, new RegExp(`^${key} = ".*"$`, "m"), `${key} = "${value}"`),
    source,
  );
}
