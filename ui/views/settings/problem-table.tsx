import { Button } from "../../components/button.tsx";
import { Chip } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import type { Doc, Problem } from "../../core/server/api.ts";
import { t } from "../../core/text/i18n.ts";

/** A problem of a configuration, from a check or a refused reload. */
export type ConfigurationProblem = Doc<"ConfigurationCheck">["problems"][number];

/** Returns the problems that a refused reload lists. */
export function problemsOf({ document }: Problem): readonly ConfigurationProblem[] {
  const { problems = [] } = document as Partial<Doc<"Problem">>;
  return problems.map(({ line = null, column = null, ...rest }) => ({
    ...rest,
    line,
    column,
    suggestion: null,
    severity: "error",
  }));
}

interface ProblemTableProps {
  readonly problems: readonly ConfigurationProblem[];
  /** Shows a position in the text. */
  readonly onPlace?: (line: number, column: number) => void;
}

/** Problems with their positions, errors first. */
export function ProblemTable({ problems, onPlace }: ProblemTableProps) {
  const rows = problems
    .map((problem, id) => ({ id, problem }))
    .sort((a, b) => Number(a.problem.severity !== "error") - Number(b.problem.severity !== "error"));
  const columns: Columns<(typeof rows)[number]> = [
    [
      t("problems.severity"),
      ({ problem: { severity } }) => (
        <Chip tone={severity === "error" ? "bad" : "warn"}>{t(`problems.${severity}`)}</Chip>
      ),
    ],
    [t("problems.place"), ({ problem }) => <Place problem={problem} onPlace={onPlace} />],
    [
      t("problems.message"),
      ({ problem: { message, path, suggestion } }) => (
        <>
          {message}
          {(path !== "" || suggestion !== null) && (
            <small class="problem-more">
              {path !== "" && <code>{path}</code>}
              {suggestion !== null && ` → ${suggestion}`}
            </small>
          )}
        </>
      ),
    ],
  ];
  return <Table caption={t("problems.title")} columns={columns} rows={rows} rowKey={({ id }) => id} />;
}

interface PlaceProps {
  readonly problem: ConfigurationProblem;
  readonly onPlace: ProblemTableProps["onPlace"];
}

function Place({ problem: { file, line, column }, onPlace }: PlaceProps) {
  const text = [file, line, column].filter((part) => part !== null).join(":");
  if (line === null || onPlace === undefined) return <code>{text}</code>;
  return (
    <Button
      label={<code>{text}</code>}
      class="quiet small"
      title={t("problems.show")}
      onPress={() => onPlace(line, column ?? 1)}
    />
  );
}
