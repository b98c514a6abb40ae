import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv } from "ajv";
import type { Checks } from "./checks.ts";
import { outputOf } from "./checks.ts";
import { type Resource, readResource } from "./manifests.ts";

/** A schema in Google's description of an API. */
interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  enum?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
}

interface Discovery {
  schemas: Record<string, Schema>;
}

/** Compares the service with Google's own description of Cloud Run's API, which comes with the Python client. */
export async function checkCloudRun({ check }: Checks, env: NodeJS.ProcessEnv): Promise<void> {
  const service = readResource("infra/cloud-run.gpu.yaml", "Service");
  const api = await check("Cloud Run's API v1, from google-api-python-client", async () => {
    const place = "import googleapiclient, os; print(os.path.dirname(googleapiclient.__file__))";
    const folder = (await outputOf(".", ["python", "-c", place], env)).trim();
    const path = join(folder, "discovery_cache/documents/run.v1.json");
    return JSON.parse(await readFile(path, "utf8")) as Discovery;
  });
  if (!api) return;
  await check("schema of Cloud Run: infra/cloud-run.gpu.yaml", async () => assertService(service, api));
  await check("annotations of Cloud Run: infra/cloud-run.gpu.yaml", async () => assertAnnotations(service, api));
  await check("schema and annotations of Cloud Run refuse errors", async () => {
    const { spec } = service;
    const broken: [Resource, (resource: Resource, api: Discovery) => void][] = [
      [{ ...service, spec: { ...spec, replicas: 1 } } as Resource, assertService],
      [
        { ...service, metadata: { ...service.metadata, annotations: { "run.googleapis.com/gpu": "1" } } },
        assertAnnotations,
      ],
    ];
    for (const [resource, assert] of broken) {
      if (!fails(() => assert(resource, api))) throw new Error(`${assert.name} accepted an error.`);
    }
  });
}

/** @throws Error if a field does not exist, or its value has another type */
function assertService(service: Resource, { schemas }: Discovery): void {
  const ajv = new Ajv({ strict: false, allErrors: true });
  const validate = ajv.compile({ $ref: "#/definitions/Service", definitions: mapped(schemas, jsonSchema) });
  if (!validate(service)) throw new Error(ajv.errorsText(validate.errors));
}

/** Makes a JSON schema in which objects have no other fields than those that the description names. */
function jsonSchema({ $ref, type, enum: values, properties, additionalProperties, items }: Schema): object {
  if ($ref !== undefined) return { $ref: `#/definitions/${$ref}` };
  return {
    ...(type !== undefined && type !== "any" && { type }),
    ...(values && { enum: values }),
    ...(items && { items: jsonSchema(items) }),
    ...(additionalProperties && { additionalProperties: jsonSchema(additionalProperties) }),
    ...(properties && { properties: mapped(properties, jsonSchema), additionalProperties: false }),
  };
}

const mapped = (schemas: Record<string, Schema>, make: (schema: Schema) => object): Record<string, object> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, make(schema)]));

/** Cloud Run's API describes in words which resources may have which annotations. @throws Error for all others */
function assertAnnotations(service: Resource, { schemas }: Discovery): void {
  const text = schemas["ObjectMeta"]?.properties?.["annotations"]?.description ?? "";
  const accepted = new Map(
    [...text.matchAll(/\* `([^`]+)`: ([^*]+)/g)].map(([, name = "", kinds = ""]) => [name, kinds]),
  );
  const given = [
    ...Object.keys(service.metadata.annotations ?? {}).map((name) => [name, "Service"] as const),
    ...Object.keys(service.spec.template.metadata.annotations).map((name) => [name, "Revision"] as const),
  ];
  for (const [name, kind] of given) {
    if (!accepted.get(name)?.includes(kind))
      throw new Error(`A ${kind} has no annotation ${name}. The API says:\n${text}`);
  }
}

function fails(run: () => void): boolean {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}
