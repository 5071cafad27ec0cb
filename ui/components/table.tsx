import { useSignal } from "@preact/signals";
import type { ComponentChildren, TargetedEvent } from "preact";

export interface Column<T> {
  readonly key: string;
  readonly label: string;
  readonly isNumber?: boolean;
  readonly cell: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  /** What the table lists, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string | number;
  /** A cell before the others, such as a box to select the row. */
  readonly lead?: (row: T) => ComponentChildren;
}

/** The height of a row in a table of more than `PLAIN_ROWS` rows, in CSS pixels. */
const ROW_PX = 44;
const PLAIN_ROWS = 150;
const AROUND = 10;

/** A table. Of a long one only the rows in view are in the document; it scrolls in a box of its own. */
export function Table<T>(props: TableProps<T>) {
  const { caption, columns, rows, lead } = props;
  const top = useSignal(0);
  const height = useSignal(600);
  const isLong = rows.length > PLAIN_ROWS;
  const from = isLong ? Math.max(0, Math.floor(top.value / ROW_PX) - AROUND) : 0;
  const to = isLong ? Math.min(rows.length, Math.ceil((top.value + height.value) / ROW_PX) + AROUND) : rows.length;
  const onScroll = (event: TargetedEvent<HTMLElement>): void => {
    top.value = event.currentTarget.scrollTop;
    height.value = event.currentTarget.clientHeight;
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
            {columns.map(({ key, label, isNumber }) => (
              <th key={key} scope="col" class={isNumber === true ? "number" : undefined}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {from > 0 && <Gap rows={from} columns={width} />}
          {rows.slice(from, to).map((row, n) => (
            <tr key={props.rowKey(row)} aria-rowindex={from + n + 2}>
              {lead !== undefined && <td>{lead(row)}</td>}
              {columns.map(({ key, isNumber, cell, label }) => (
                <td key={key} class={isNumber === true ? "number" : undefined} data-label={label}>
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

/** Takes the room of the rows that are not in the document. */
function Gap({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  return (
    <tr class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );
}
