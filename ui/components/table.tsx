import { batch, useSignal } from "@preact/signals";
import type { ComponentChildren, TargetedEvent } from "preact";

export interface Column<T> {
  readonly key: string;
  readonly label: string;
  readonly isNumber?: boolean;
  /** Whether narrow screens hide the column. */
  readonly isMinor?: boolean;
  /** Makes the title a button to sort the rows. The caller sorts them. */
  readonly sort?: { readonly now: Sorting; readonly onSort: () => void };
  readonly cell: (row: T) => ComponentChildren;
}

export type Sorting = "ascending" | "descending" | "none";
const SORT_MARKS = { ascending: "▲", descending: "▼" };

const classOf = <T,>({ isNumber = false, isMinor = false }: Column<T>): string | undefined =>
  [isNumber ? "number" : "", isMinor ? "minor" : ""].filter(Boolean).join(" ") || undefined;

interface TableProps<T> {
  /** The caption for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string | number;
  /** The first cell of a row, such as a checkbox to select the row. */
  readonly lead?: (row: T) => ComponentChildren;
}

/** The height of a row in a table of more than `PLAIN_ROWS` rows, in CSS pixels. */
const ROW_PX = 44;
const PLAIN_ROWS = 150;
/** The rendered rows change in steps of this many rows, so that not every scroll event renders. */
const STEP = 6;

/** A table. Of a long table only the visible rows are in the document, and it scrolls in its own box. */
export function Table<T>(props: TableProps<T>) {
  const { caption, columns, rows, lead } = props;
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
            {columns.map((column) => (
              <th key={column.key} scope="col" class={classOf(column)} aria-sort={column.sort?.now}>
                <Title of={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {from > 0 && <Gap rows={from} columns={width} />}
          {rows.slice(from, to).map((row, n) => (
            <tr key={props.rowKey(row)} aria-rowindex={from + n + 2}>
              {lead !== undefined && <td>{lead(row)}</td>}
              {columns.map((column) => (
                <td key={column.key} class={classOf(column)} data-label={column.label}>
                  <div>{column.cell(row)}</div>
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

function Title<T>({ of: { label, sort } }: { readonly of: Column<T> }) {
  if (sort === undefined) return <>{label}</>;
  return (
    <button type="button" class="sort" onClick={sort.onSort}>
      {label}
      {sort.now !== "none" && <span aria-hidden="true">{SORT_MARKS[sort.now]}</span>}
    </button>
  );
}

/** Fills the space of rows that are not in the document. */
function Gap({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  return (
    <tr class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );
}
