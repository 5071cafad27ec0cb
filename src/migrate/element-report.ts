import { groupedBy } from "../lib/grouped-by.ts";
import { placed } from "./foreign/origins.ts";

/** How an element of another program's configuration is used. */
export interface ReportedElement {
  /** The title of the object with the element, such as `cache roads`. */
  readonly title: string;
  /** The path of the element in its object. */
  readonly path: string;
  /** `taken over`: used as in the other program. `differently`: used with a difference. `kept`: without any effect. */
  readonly outcome: "taken over" | "differently" | "kept";
  readonly how?: string;
  /** The file and line of the element, as `FILE:LINE`. */
  readonly origin?: string;
}

/** Formats the report on each element, by object. */
export function reportText(reports: readonly ReportedElement[]): string {
  const lines = [...groupedBy(reports, ({ title }) => title)].flatMap(([title, own]) => {
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

/**
 * Returns the comment of an object in a configuration file: its elements that have no effect or a difference. Undefined
 * without such elements.
 */
export function commentOf(
  reports: readonly ReportedElement[],
  named: (element: ReportedElement) => string,
): string | undefined {
  const kept = reports.filter(({ outcome, how }) => outcome === "kept" && how === undefined).map(named);
  const lines = [
    ...(kept.length === 0 ? [] : [` No effect: ${kept.join(", ")}.`]),
    ...reports.flatMap((one) => (one.how === undefined ? [] : [` ${named(one)}: ${one.how}.`])),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}
