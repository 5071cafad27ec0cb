import type { ReportedElement } from "./foreign/foreign-object.ts";
import { placed } from "./foreign/origins.ts";
import type { ElementReport } from "./geowebcache/honoured.ts";

const KINDS: Readonly<Record<ElementReport["kind"], string>> = {
  layer: "layer",
  gridSet: "grid set",
  store: "store",
  settings: "settings",
};

/** Converts the reports on a configuration of GeoWebCache to the common form. */
export const reportedElements = (reports: readonly ElementReport[]): readonly ReportedElement[] =>
  reports.map(({ kind, name, ...element }) => ({
    title: kind === "settings" ? KINDS.settings : `${KINDS[kind]} ${name}`,
    ...element,
  }));

/** Formats the report on each element, by object. */
export function reportText(reports: readonly ReportedElement[]): string {
  const objects = new Map<string, ReportedElement[]>();
  for (const report of reports) {
    const own = objects.get(report.title);
    if (own === undefined) objects.set(report.title, [report]);
    else own.push(report);
  }
  const lines = [...objects].flatMap(([title, own]) => {
    const paths = (outcome: ReportedElement["outcome"]) =>
      own
        .filter((one) => one.outcome === outcome && one.how === undefined)
        // Elements that are taken over need no position, because operators need not search for them in the file.
        .map(({ path, origin }) => (outcome === "taken over" ? path : `${path}${placed(origin)}`));
    const line = (name: string, found: readonly string[]) =>
      found.length === 0 ? [] : [`  ${name}: ${found.join(", ")}`];
    const explained = (outcome: ReportedElement["outcome"], name: string) =>
      own.flatMap((one) =>
        one.outcome === outcome && one.how !== undefined
          ? [`  ${name}: ${one.path} (${one.how})${one.origin === undefined ? "" : `, ${one.origin}`}`]
          : [],
      );
    return [
      title,
      ...line("taken over", paths("taken over")),
      ...explained("differently", "taken over differently"),
      ...line("kept, without effect", paths("kept")),
      ...explained("kept", "kept, without effect"),
    ];
  });
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
