import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { regionVariables } from "./region-variables.ts";

interface Statement {
  Action: string | string[];
  Resource: unknown;
  Condition?: object;
}

interface Template {
  Parameters: Record<string, { Default?: string; AllowedPattern?: string }>;
  // biome-ignore lint/suspicious/noExplicitAny: CloudFormation's resources have no types here
  Resources: Record<string, { Type: string; Properties: any }>;
  Outputs: Record<string, { Value: unknown }>;
}

/** Makes of CloudFormation's short tags what they are short for: `!Ref A` → `{ Ref: "A" }`. */
const customTags = ["Ref", "Sub", "GetAtt"].map((name) => ({
  tag: `!${name}`,
  resolve: (value: string) => (name === "Ref" ? { Ref: value } : { [`Fn::${name}`]: value }),
}));

const document = parseDocument(readFileSync("infra/sagemaker.yml", "utf8"), { customTags });
const { Parameters, Resources, Outputs } = document.toJS() as Template;

const properties = (name: string) => Resources[name]?.Properties;
const statements = (name: string): Statement[] =>
  properties(name).Policies.flatMap(
    (policy: { PolicyDocument: { Statement: Statement[] } }) => policy.PolicyDocument.Statement,
  );
const actions = (name: string) => statements(name).flatMap(({ Action }) => Action);

describe("infra/sagemaker.yml", () => {
  it("is YAML without errors", () => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
  });

  it("sets only variables that the region reads, and reads the model from SageMaker's folder without a network", () => {
    const { PrimaryContainer, EnableNetworkIsolation } = properties("RegionModel");
    const known = regionVariables();
    expect(Object.keys(PrimaryContainer.Environment).filter((name) => !known.has(name))).toEqual([]);
    expect(PrimaryContainer.Environment).toMatchObject({ SAGEMAKER: "true", MODELS_FOLDER: "/opt/ml/model" });
    expect(EnableNetworkIsolation).toBe(true);
  });

  it("gives SageMaker the image, one publication, logs and metrics, and nothing else", () => {
    expect(actions("ExecutionRole")).toEqual([
      "s3:GetObject",
      "s3:ListBucket",
      "ecr:BatchCheckLayerAvailability",
      "ecr:BatchGetImage",
      "ecr:GetDownloadUrlForLayer",
      "ecr:GetAuthorizationToken",
      "logs:CreateLogGroup",
      "logs:CreateLogStream",
      "logs:DescribeLogStreams",
      "logs:PutLogEvents",
      "cloudwatch:PutMetricData",
    ]);
    const everywhere = statements("ExecutionRole").filter(({ Resource }) => Resource === "*");
    expect(everywhere.map(({ Action }) => Action)).toEqual(["ecr:GetAuthorizationToken", "cloudwatch:PutMetricData"]);
  });

  it("lets the edge's user call this endpoint and nothing else", () => {
    expect(statements("EdgeUser")).toEqual([
      { Effect: "Allow", Action: "sagemaker:InvokeEndpoint", Resource: { Ref: "Endpoint" } },
    ]);
  });

  it("scales the variant that the endpoint has", () => {
    const [variant] = properties("RegionConfig").ProductionVariants;
    expect(properties("Scaling").ResourceId).toEqual({
      "Fn::Sub": `endpoint/\${Endpoint.EndpointName}/variant/${variant.VariantName}`,
    });
    expect(properties("Scaling").MinCapacity).toEqual(variant.InitialInstanceCount);
    expect(properties("ScalingPolicy").PolicyType).toBe("TargetTrackingScaling");
  });

  it("prints the URL that the edge takes for SageMaker", () => {
    expect(Outputs["RegionUrl"]?.Value).toEqual({
      "Fn::Sub": `https://runtime.sagemaker.\${AWS::Region}.\${AWS::URLSuffix}/endpoints/\${Endpoint.EndpointName}`,
    });
  });

  it.each([
    ["models/1/", true],
    ["models", false],
    ["/models/", false],
    ["/", false],
  ])("takes the prefix %s: %s", (prefix, isTaken) => {
    expect(new RegExp(Parameters["ModelPrefix"]?.AllowedPattern ?? "").test(prefix)).toBe(isTaken);
  });
});
