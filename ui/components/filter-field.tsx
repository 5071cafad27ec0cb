import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { place, setQuery } from "../core/router.ts";
import { Field } from "./parts.tsx";

const TYPING_MS = 350;

interface FilterProps {
  readonly name: string;
  readonly label: string;
  /** Keys of the query that this change removes, such as the position in the list. */
  readonly resets?: readonly string[];
}

const change = (name: string, value: string, resets: readonly string[]): void =>
  setQuery({ ...Object.fromEntries(resets.map((key) => [key, undefined])), [name]: value });

interface TextFilterProps extends FilterProps {
  /** Values to choose from. */
  readonly list?: readonly string[];
  readonly type?: "search" | "datetime-local";
  /** The filter is a whole value: it applies when the reader has finished typing. */
  readonly isExact?: boolean;
}

/** A text filter that stands in the address. It follows the typing after a short rest. */
export function TextFilter({ name, label, resets = [], list, type = "search", isExact = false }: TextFilterProps) {
  const given = place.value.query.get(name) ?? "";
  const [text, setText] = useState(given);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(given), [given]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const listId = `values-${name}`;
  const follow = (value: string): void => {
    setText(value);
    clearTimeout(timer.current);
    if (!isExact) timer.current = setTimeout(() => change(name, value, resets), TYPING_MS);
  };
  return (
    <Field label={label}>
      {({ id }) => (
        <>
          <input
            id={id}
            type={type}
            value={text}
            list={list === undefined ? undefined : listId}
            onInput={({ currentTarget }) => follow(currentTarget.value)}
            onChange={({ currentTarget }) => change(name, currentTarget.value, resets)}
          />
          {list !== undefined && (
            <datalist id={listId}>
              {list.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

/** A choice that stands in the address. The first choice has the value "". */
export function ChoiceFilter(props: FilterProps & { readonly children: ComponentChildren }) {
  const { name, label, resets = [], children } = props;
  return (
    <Field label={label}>
      {({ id }) => (
        <select
          id={id}
          value={place.value.query.get(name) ?? ""}
          onChange={({ currentTarget: { value } }) => change(name, value, resets)}
        >
          {children}
        </select>
      )}
    </Field>
  );
}
