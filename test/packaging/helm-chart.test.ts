import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfiguration } from "../../src/configuration/load.ts";
import { problemText } from "../../src/configuration/problem.ts";
import { isMap } from "../../src/lib/is-map.ts";
import { ROOT, run } from "./packed.ts";

const HELM = process.env["NUTHATCH_HELM"] ?? "helm";
/** The package kubernetes-models has the schemas of Kubernetes. */
const MODELS =
  process.env["NUTHATCH_KUBERNETES_MODELS"] ??
  join(ROOT, "node_modules/.cache/kubernetes/node_modules/kubernetes-models");
const missing = [
  ...(spawnSync(HELM, ["version"]).status === 0
    ? []
    : ["helm (go install helm.sh/helm/v3/cmd/helm@v3.18.4, or NUTHATCH_HELM)"]),
  ...(existsSync(MODELS)
    ? []
    : ["kubernetes-models (npm install --prefix node_modules/.cache/kubernetes kubernetes-models@5.1.0)"]),
].join(" and ");
if (missing !== "") console.warn(`SKIPPED: test/packaging/helm-chart.test.ts needs ${missing}`);

/** A program that `go install` has made knows of no version of Kubernetes. */
const KUBERNETES = "1.31.0";
const chart = join(ROOT, "packaging/helm/nuthatch");
const cluster = join(chart, "ci/cluster-values.yaml");
const directory = mkdtempSync(join(tmpdir(), "nuthatch-helm-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [key: string]: unknown;
}

function rendered(...flags: readonly string[]): readonly Resource[] {
  const text = run(HELM, ["template", "maps", chart, "--kube-version", KUBERNETES, "--namespace", "tiles", ...flags]);
  return parseAllDocuments(text).flatMap((document) => {
    const resource: Resource | null = document.toJS();
    return resource === null ? [] : [resource];
  });
}

const find = (resources: readonly Resource[], kind: string): Resource => {
  const found = resources.find((resource) => resource.kind === kind);
  if (found === undefined) throw new Error(`no ${kind} was rendered`);
  return found;
};

/** Checks a resource by the schema of Kubernetes; resources of operators have none there. */
async function problemOf(resource: Resource): Promise<string | undefined> {
  const { apiVersion, kind } = resource;
  if (apiVersion.startsWith("monitoring.coreos.com/")) return undefined;
  const module: unknown = await import(pathToFileURL(join(MODELS, apiVersion, `${kind}.js`)).href);
  const Model: unknown = isMap(module) ? module[kind] : undefined;
  if (typeof Model !== "function") return `${apiVersion} ${kind} is not known`;
  const model: unknown = Reflect.construct(Model, [resource]);
  if (typeof model !== "object" || model === null || !("validate" in model) || typeof model.validate !== "function")
    return `${kind} cannot be checked`;
  try {
    model.validate();
    return undefined;
  } catch (error) {
    return `${kind}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Loads the configuration of a ConfigMap with secrets that are files here. */
async function problemsOfConfiguration(resources: readonly Resource[]): Promise<readonly string[]> {
  const { data } = find(resources, "ConfigMap");
  const text = isMap(data) ? String(data["nuthatch.yaml"]) : "";
  const names = [...text.matchAll(/\/run\/secrets\/nuthatch\/([\w-]+)/g)].map(([, name = ""]) => name);
  for (const name of names) writeFileSync(join(directory, name), "a-secret-of-the-test");
  const file = join(directory, "nuthatch.yaml");
  writeFileSync(file, text.replaceAll("/run/secrets/nuthatch/", `${directory}/`));
  const loaded = await loadConfiguration({ env: { NODE: "maps-nuthatch-0" }, flags: { config: file }, cwd: directory });
  return loaded.ok ? [] : loaded.error.map(problemText);
}

describe.skipIf(missing !== "")(`the Helm chart${missing === "" ? "" : ` (skipped: needs ${missing})`}`, () => {
  test("passes lint in both forms", () => {
    for (const values of [[], ["--values", cluster]])
      expect(run(HELM, ["lint", "--strict", chart, ...values])).toContain("0 chart(s) failed");
  });

  test.each([
    { form: "one server", flags: [], kinds: ["ConfigMap", "Secret", "Service", "Service", "StatefulSet"] },
    {
      form: "a cluster",
      flags: ["--values", cluster],
      kinds: [
        "ConfigMap",
        "Ingress",
        "PodDisruptionBudget",
        "PrometheusRule",
        "Service",
        "Service",
        "ServiceMonitor",
        "StatefulSet",
      ],
    },
  ])("$form: resources fit the schemas of Kubernetes, and the configuration is valid", async ({ flags, kinds }) => {
    const resources = rendered(...flags);
    expect(resources.map(({ kind }) => kind).sort()).toEqual(kinds);
    expect((await Promise.all(resources.map(problemOf))).filter((problem) => problem !== undefined)).toEqual([]);
    expect(await problemsOfConfiguration(resources)).toEqual([]);
  });

  test("a server runs once without rights, and a service of its name sets no variable of it", () => {
    const { spec } = find(rendered(), "StatefulSet");
    expect(spec).toMatchObject({
      replicas: 1,
      template: {
        spec: {
          enableServiceLinks: false,
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, runAsUser: 10001 },
          containers: [{ securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } } }],
        },
      },
    });
  });

  test("nodes find one another by the names of their pods, and have the alert rules", () => {
    const resources = rendered("--values", cluster);
    expect(find(resources, "StatefulSet")["spec"]).toMatchObject({ replicas: 3, serviceName: "maps-nuthatch-nodes" });
    const { data } = find(resources, "ConfigMap");
    const configuration: unknown = parse(isMap(data) ? String(data["nuthatch.yaml"]) : "");
    expect(configuration).toMatchObject({
      cluster: { node: `\${NODE}`, advertise: `\${NODE}.maps-nuthatch-nodes.tiles.svc:7101` },
      server: { host: "0.0.0.0", port: 8080 },
    });
    expect(find(resources, "PrometheusRule")["spec"]).toMatchObject({ groups: [{ name: "nuthatch" }] });
  });

  test("a cluster without PostgreSQL, and values that do not fit, are refused with what to do", () => {
    const template = (...flags: readonly string[]): string =>
      spawnSync(HELM, ["template", "maps", chart, "--kube-version", KUBERNETES, ...flags], { encoding: "utf8" }).stderr;
    expect(template("--set", "cluster.enabled=true")).toContain("configuration.state must be of type postgres");
    expect(template("--set", "cluster.replicas=none")).toMatch(/cluster.*replicas/s);
    expect(template("--set", "configuration.cluster.node=a")).toContain("configuration");
  });
});
