import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../core/i18n.ts";
import { place, setQuery } from "../core/router.ts";
import { Choice } from "./choice.tsx";
import { TextField } from "./text-field.tsx";

const TYPING_MS = 350;

interface FilterProps {
  readonly name: string;
  readonly label: string;
  /** Keys of the query that a change of this filter removes, such as the position in the list. */
  readonly resets?: readonly string[];
}

const change = (name: string, value: string, resets: readonly string[]): void =>
  setQuery({ ...Object.fromEntries(resets.map((key) => [key, undefined])), [name]: value });

interface TextFilterProps extends FilterProps {
  /** Values to choose from. */
  readonly list?: readonly string[];
  readonly type?: "search" | "datetime-local";
  /** Whether only a whole value is a filter: it then applies when the user has finished typing. */
  readonly isExact?: boolean;
}

/** A text filter whose value is in the address. It applies shortly after the user has stopped typing. */
export function TextFilter({ name, label, resets = [], list, type = "search", isExact = false }: TextFilterProps) {
  const given = place.value.query.get(name) ?? "";
  const [text, setText] = useState(given);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(given), [given]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const follow = (value: string): void => {
    setText(value);
    clearTimeout(timer.current);
    if (!isExact) timer.current = setTimeout(() => change(name, value, resets), TYPING_MS);
  };
  return (
    <TextField
      label={label}
      type={type}
      value={text}
      offered={list}
      onInput={follow}
      onChange={({ currentTarget }) => change(name, currentTarget.value, resets)}
    />
  );
}

interface ChoiceFilterProps<T> extends FilterProps {
  readonly values: readonly T[];
  readonly textOf?: (value: T) => string;
  /** The text of the first choice, which filters nothing. */
  readonly none?: string;
}

/** A choice whose value is in the address. The first choice has the value "". */
export function ChoiceFilter<T extends string>(props: ChoiceFilterProps<T>) {
  const { name, label, resets = [], values, textOf = String, none = t("filter.any") } = props;
  return (
    <Choice<T | "">
      label={label}
      value={place.value.query.get(name) ?? ""}
      values={["", ...values]}
      textOf={(value) => (value === "" ? none : textOf(value))}
      onChoose={(value) => change(name, value, resets)}
    />
  );
}

/** A button that removes all filters. It is hidden if no filter is set. */
export function ClearFilters({
  names,
  resets,
}: {
  readonly names: readonly string[];
  readonly resets: readonly string[];
}) {
  if (!names.some((name) => place.value.query.has(name))) return null;
  return (
    <button
      type="button"
      class="quiet"
      onClick={() => setQuery(Object.fromEntries([...names, ...resets].map((name) => [name, undefined])))}
    >
      {t("filter.clear")}
    </button>
  );
}
