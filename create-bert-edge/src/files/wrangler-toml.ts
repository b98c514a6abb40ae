import { modelName, type Project } from "../project.ts";
import { replaceOnce } from "./replace-once.ts";

export const bucketName = ({ name }: Project): string => `${name}-models`;

export function wranglerToml(source: string, project: Project): string {
  const values = { name: project.name, MODEL: modelName(project), bucket_name: bucketName(project) };
  const filled = Object.entries(values).reduce(
    (toml, [key, value]) => replaceOnce(toml, new RegExp(`^${key} = ".*"$`, "m"), `${key} = "${value}"`),
    source,
  );
  // The project's Worker runs the engine of bert-edge. Only a Worker with onnxruntime-web needs this section.
  return replaceOnce(filled, /\n# onnxruntime-web .*\n\[define\]\n.*\n/, "");
}
