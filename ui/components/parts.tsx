import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useUniqueId } from "../core/page/unique-id.ts";
import type { Problem } from "../core/server/api.ts";
import type { Loaded } from "../core/server/resource.ts";
import { percent } from "../core/text/format.ts";
import { t } from "../core/text/i18n.ts";
import { Button } from "./button.tsx";

interface PageProps {
  readonly title: string;
  /** Controls beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of a view. Its title is the title of the page, and gets the focus after a navigation. */
export function Page({ title, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Nuthatch`;
  }, [title]);
  return (
    <div class="page stack">
      <header class="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A titled part of a view. */
export function Panel({ title, actions, children, class: className = "" }: PanelProps) {
  const id = useUniqueId();
  return (
    <section class={`panel ${className}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

interface LoadingProps<T> {
  readonly of: Pick<Loaded<T>, "data" | "problem" | "reload">;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows a document. Before it is loaded shows that, and after a failure shows the problem with a button to retry. */
export function Loading<T>({ of: { data, problem, reload }, children }: LoadingProps<T>) {
  const box = problem !== undefined && <ProblemBox problem={problem} retry={reload} />;
  if (data !== undefined)
    return (
      <>
        {box}
        {children(data)}
      </>
    );
  return box || <LoadingNote />;
}

export const LoadingNote = () => (
  <p class="soft loading" role="status">
    {t("loading")}
  </p>
);

export function ProblemBox({ problem, retry }: { readonly problem: Problem; readonly retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <span>{problem.message}</span>
      {retry !== undefined && <Button label={t("retry")} class="quiet small" onPress={retry} />}
    </div>
  );
}

/** Says why a form was refused. It is in the page before, so that screen readers announce the text. */
export const Refusal = ({ text }: { readonly text: string }) => (
  <p class="problem" role="alert" hidden={text === ""}>
    {text}
  </p>
);

export type Tone = "good" | "busy" | "warn" | "bad" | "plain";

/** The mark of each tone, because colour must not be the only sign. */
export const MARKS: Readonly<Record<Tone, string>> = { good: "✔", busy: "▶", warn: "▲", bad: "✖", plain: "●" };

/** A state as a word with a mark. */
export function Chip({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`chip ${tone}`}>
      <span aria-hidden="true">{MARKS[tone]}</span> {children}
    </span>
  );
}

/** A bar from 0 to 1 with a text beside it, by default the percentage. */
export function Meter({
  value,
  label,
  tone = "busy",
  text,
}: {
  readonly value: number;
  readonly label: string;
  readonly tone?: Tone;
  readonly text?: string;
}) {
  const now = Math.round(Math.max(0, Math.min(1, value)) * 100);
  return (
    <span class="meter">
      <svg
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        class={tone}
        role="progressbar"
        aria-label={label}
        aria-valuenow={now}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <rect class="track" width="100" height="8" />
        <rect class="fill" width={now} height="8" />
      </svg>
      <span class="number">{text ?? percent(value)}</span>
    </span>
  );
}

/** A small line chart of values, oldest first. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const top = Math.max(1e-9, ...values);
  const step = values.length < 2 ? 0 : 120 / (values.length - 1);
  const points = values.map((value, n) => `${(n * step).toFixed(1)},${(23 - (value / top) * 22).toFixed(1)}`).join(" ");
  return (
    <svg class="sparkline" viewBox="0 0 120 24" preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline points={points} />
    </svg>
  );
}

/** The texts of a labelled control. An error is shown in place of the hint. */
export interface FieldTexts {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
}

interface FieldProps extends FieldTexts {
  /** Called with the id of the control, and the id of the texts that describe it. */
  readonly children: (ids: { readonly id: string; readonly describedBy: string | undefined }) => ComponentChildren;
}

/** A labelled control with its hint and its error. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useUniqueId();
  const describedBy = hint === undefined && error === undefined ? undefined : `${id}-more`;
  return (
    <div class={error === undefined ? "field" : "field wrong"}>
      <label for={id}>{label}</label>
      {children({ id, describedBy })}
      {describedBy !== undefined && (
        <small id={describedBy} role={error === undefined ? undefined : "alert"}>
          {error ?? hint}
        </small>
      )}
    </div>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
