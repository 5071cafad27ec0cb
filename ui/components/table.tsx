import { batch, useSignal } from "@preact/signals";
import type { ComponentChildren, TargetedEvent } from "preact";
import { Button } from "./button.tsx";
import { Empty } from "./parts.tsx";

/** Whether the cells of a column are numbers, and whether narrow screens, or all but wide ones, hide it. */
export type Look = "number" | "minor" | "wide" | "number minor" | "number wide";

/**
 * A column: its title, the content of a cell, its look, and for rows that the user can sort the title's button. The
 * caller sorts the rows.
 */
export type Column<T> = readonly [
  label: string,
  cell: (row: T) => ComponentChildren,
  look?: Look | undefined,
  sort?: Sorted | undefined,
];

/** The columns of a table. A column of this account alone is `may(…) && column`. */
export type Columns<T> = readonly (Column<T> | false)[];

export interface Sorted {
  readonly now: Sorting;
  readonly onSort: () => void;
}

export type Sorting = "ascending" | "descending" | "none";
const SORT_MARKS = { ascending: "▲", descending: "▼" };

interface TableProps<T> {
  /** The caption for screen readers. */
  readonly caption: string;
  readonly columns: Columns<T>;
  readonly rows: readonly T[];
  /** Shown in place of a table without rows. */
  readonly none?: ComponentChildren;
  readonly rowKey: (row: T) => string | number;
  /** The first cell of a row, such as a checkbox to select the row. */
  readonly lead?: (row: T) => ComponentChildren;
}

/** The height of a row in a table of more than `PLAIN_ROWS` rows, in CSS pixels. */
const ROW_PX = 36;
const PLAIN_ROWS = 150;
/** The rendered rows change in steps of this many rows, so that not every scroll event renders. */
const STEP = 6;

/** A table. Of a long table only the visible rows are in the document, and it scrolls in its own box. */
export function Table<T>(props: TableProps<T>) {
  const { caption, rows, lead } = props;
  const columns = props.columns.filter((column) => column !== false);
  const first = useSignal(0);
  const last = useSignal(24);
  const isLong = rows.length > PLAIN_ROWS;
  // After a list has become shorter, its last rows are shown until the browser has corrected the scroll position.
  const to = isLong ? Math.min(rows.length, last.value) : rows.length;
  const from = isLong ? Math.max(0, Math.min(first.value, to - STEP)) : 0;
  const onScroll = ({ currentTarget: { scrollTop, clientHeight } }: TargetedEvent<HTMLElement>): void => {
    const top = scrollTop / ROW_PX;
    batch(() => {
      first.value = (Math.floor(top / STEP) - 1) * STEP;
      last.value = (Math.ceil((top + clientHeight / ROW_PX) / STEP) + 1) * STEP;
    });
  };
  if (rows.length === 0 && props.none !== undefined) return <Empty>{props.none}</Empty>;
  const width = columns.length + (lead === undefined ? 0 : 1);
  return (
    <section
      class={isLong ? "table long" : "table"}
      onScroll={isLong ? onScroll : undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard
      tabIndex={0}
      aria-label={caption}
    >
      <table aria-rowcount={rows.length + 1}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr aria-rowindex={1}>
            {lead !== undefined && <td />}
            {columns.map(([label, _cell, look, sort]) => (
              <th key={label} scope="col" class={look} aria-sort={sort?.now}>
                <Title label={label} sort={sort} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {from > 0 && <Gap rows={from} columns={width} />}
          {rows.slice(from, to).map((row, n) => (
            <tr key={props.rowKey(row)} aria-rowindex={from + n + 2}>
              {lead !== undefined && <td class="lead">{lead(row)}</td>}
              {columns.map(([label, cell, look]) => (
                <td key={label} class={look} data-label={label}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
          {to < rows.length && <Gap rows={rows.length - to} columns={width} />}
        </tbody>
      </table>
    </section>
  );
}

function Title({ label, sort }: { readonly label: string; readonly sort: Sorted | undefined }) {
  if (sort === undefined) return <>{label}</>;
  const mark = sort.now !== "none" && <span aria-hidden="true">{SORT_MARKS[sort.now]}</span>;
  return <Button class="sort" label={[label, mark]} onPress={sort.onSort} />;
}

/** Fills the space of rows that are not in the document. */
function Gap({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  return (
    <tr class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );
}
