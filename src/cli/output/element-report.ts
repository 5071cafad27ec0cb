import type { ElementReport } from "../../gwc/honoured.ts";

const KINDS: Readonly<Record<ElementReport["kind"], string>> = {
  layer: "layer",
  gridSet: "grid set",
  store: "store",
  settings: "settings",
};

/** Describes what becomes of each element, by object. */
export function reportText(reports: readonly ElementReport[]): string {
  const objects = new Map<string, ElementReport[]>();
  for (const report of reports) {
    const title = report.kind === "settings" ? KINDS.settings : `${KINDS[report.kind]} ${report.name}`;
    objects.set(title, [...(objects.get(title) ?? []), report]);
  }
  const lines = [...objects].flatMap(([title, own]) => {
    const paths = (outcome: ElementReport["outcome"]) =>
      own.filter((one) => one.outcome === outcome).map(({ path }) => path);
    const line = (name: string, found: readonly string[]) =>
      found.length === 0 ? [] : [`  ${name}: ${found.join(", ")}`];
    return [
      title,
      ...line("taken over", paths("taken over")),
      ...own.flatMap(({ path, how }) => (how === undefined ? [] : [`  taken over differently: ${path} (${how})`])),
      ...line("kept, without effect", paths("kept")),
    ];
  });
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
