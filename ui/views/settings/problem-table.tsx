import { Chip } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Doc, Problem } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";

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
  const columns: readonly Column<(typeof rows)[number]>[] = [
    {
      key: "severity",
      label: t("problems.severity"),
      cell: ({ problem: { severity } }) => (
        <Chip tone={severity === "error" ? "bad" : "warn"}>{t(`problems.${severity}`)}</Chip>
      ),
    },
    { key: "place", label: t("problems.place"), cell: ({ problem }) => <Place problem={problem} onPlace={onPlace} /> },
    {
      key: "message",
      label: t("problems.message"),
      cell: ({ problem: { message, path, suggestion } }) => (
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
    },
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
    <button type="button" class="quiet small" title={t("problems.show")} onClick={() => onPlace(line, column ?? 1)}>
      <code>{text}</code>
    </button>
  );
}
