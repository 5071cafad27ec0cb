import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { ROOT, run } from "./packed.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool)
  console.warn("SKIPPED: test/packaging/monitoring.test.ts needs promtool (Debian's package prometheus)");

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}
const dashboard: Dashboard = JSON.parse(read("examples/grafana-dashboard.json"));
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
interface Rules {
  readonly groups: readonly [{ readonly rules: readonly { readonly alert: string }[] }];
}
const rules: Rules = parse(read("examples/prometheus-alerts.yaml"));

test("the dashboard names metrics that the server documents, and variables that it has", () => {
  const documented = read("docs/reference/monitoring.md");
  const definitions = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
  const named = [...queries, ...definitions].flatMap((text) =>
    [...text.matchAll(/\bnuthatch_(\w+)/g)].map(([, n]) => n),
  );
  expect(new Set(named).size).toBeGreaterThan(20);
  for (const name of named) expect(documented, name).toContain(`\`${(name ?? "").replace(/_bucket$/, "")}\``);
  const variables = dashboard.templating.list.map(({ name }) => name);
  for (const [, name] of queries.join("\n").matchAll(/\$(\w+)/g))
    expect([...variables, "__rate_interval"]).toContain(name);
});

test("each alert has a made-up series that raises it", () => {
  interface Tests {
    readonly tests: readonly {
      readonly alert_rule_test: readonly { alertname: string; exp_alerts: readonly unknown[] }[];
    }[];
  }
  const { tests }: Tests = parse(read("packaging/prometheus/alerts.test.yaml"));
  const raised = tests.flatMap((one) => one.alert_rule_test).filter((one) => one.exp_alerts.length > 0);
  const names = new Set(raised.map(({ alertname }) => alertname));
  expect([...names].sort()).toEqual(rules.groups[0].rules.map(({ alert }) => alert).sort());
});

test("the Helm chart has the same alerts", () => {
  expect(read("packaging/helm/nuthatch/files/alerts.yaml")).toBe(read("examples/prometheus-alerts.yaml"));
});

describe.skipIf(!hasPromtool)(`promtool${hasPromtool ? "" : " (skipped: needs Debian's prometheus)"}`, () => {
  test("the alert rules are valid, and each is raised by its series and by no healthy one", () => {
    expect(run("promtool", ["check", "rules", join(ROOT, "examples/prometheus-alerts.yaml")])).toContain("SUCCESS");
    expect(run("promtool", ["test", "rules", join(ROOT, "packaging/prometheus/alerts.test.yaml")])).toContain(
      "SUCCESS",
    );
  });

  test("the queries of the dashboard are valid", () => {
    const directory = mkdtempSync(join(tmpdir(), "nuthatch-queries-"));
    const plain = (query: string): string =>
      query.replaceAll("$__rate_interval", "5m").replaceAll(/\$(?:instance|layer)/g, ".*");
    const file = join(directory, "queries.yaml");
    const recorded = queries.map((query, i) => ({ record: `query:${i}`, expr: plain(query) }));
    writeFileSync(file, stringify({ groups: [{ name: "queries", rules: recorded }] }));
    expect(run("promtool", ["check", "rules", file])).toContain(`${queries.length} rules found`);
    rmSync(directory, { recursive: true });
  });

  test("the configurations of Prometheus for the containers are valid", () => {
    for (const name of ["single", "cluster"]) {
      const file = join(ROOT, `packaging/compose/prometheus/${name}.yaml`);
      expect(run("promtool", ["check", "config", "--syntax-only", file])).toContain("SUCCESS");
    }
  });
});
