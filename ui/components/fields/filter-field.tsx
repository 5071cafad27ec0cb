import { useEffect, useRef, useState } from "preact/hooks";
import { place, setQuery } from "../../core/page/router.ts";
import { t } from "../../core/text/i18n.ts";
import { Button } from "../button.tsx";
import { Choice } from "./choice.tsx";
import { TextField } from "./text-field.tsx";

const TYPING_MS = 350;

interface FilterProps {
  readonly name: string;
  readonly label: string;
}

/** The keys of the query that a change of a filter removes: the position in the list, and the open batches. */
const RESET = { after: undefined, open: undefined };

const change = (name: string, value: string): void => setQuery({ ...RESET, [name]: value });

interface TextFilterProps extends FilterProps {
  /** Values to choose from. */
  readonly list?: readonly string[];
  readonly type?: "search" | "datetime-local";
  /** Whether only a whole value is a filter: it then applies when the user has finished typing. */
  readonly isExact?: boolean;
}

/** A text filter whose value is in the address. It applies shortly after the user has stopped typing. */
export function TextFilter({ name, label, list, type = "search", isExact = false }: TextFilterProps) {
  const given = place.value.query.get(name) ?? "";
  const [text, setText] = useState(given);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(given), [given]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const follow = (value: string): void => {
    setText(value);
    clearTimeout(timer.current);
    if (!isExact) timer.current = setTimeout(() => change(name, value), TYPING_MS);
  };
  return (
    <TextField
      label={label}
      type={type}
      value={text}
      offered={list}
      onInput={follow}
      onChange={({ currentTarget }) => change(name, currentTarget.value)}
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
  const { name, label, values, textOf = String, none = t("filter.any") } = props;
  return (
    <Choice<T | "">
      label={label}
      value={place.value.query.get(name) ?? ""}
      values={["", ...values]}
      textOf={(value) => (value === "" ? none : textOf(value))}
      onChoose={(value) => change(name, value)}
    />
  );
}

/** A button that removes all filters. It is hidden if no filter is set. */
export function ClearFilters({ names }: { readonly names: readonly string[] }) {
  if (!names.some((name) => place.value.query.has(name))) return null;
  const clear = (): void => setQuery({ ...RESET, ...Object.fromEntries(names.map((name) => [name, undefined])) });
  return <Button class="quiet" label={t("filter.clear")} onPress={clear} />;
}
