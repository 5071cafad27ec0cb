import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Empty, Page, ProblemBox } from "../../components/parts.tsx";
import { asProblem, type Problem } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";
import { jsonText } from "../../core/json.ts";
import { may } from "../../core/session.ts";
import type { ViewProps } from "../../view.ts";
import { type EditedKind, KINDS } from "./kinds.ts";
import { ObjectEditor } from "./object-editor.tsx";
import { type Read, readObject } from "./read-object.ts";

/** `/edit/KIND/NAME` changes an object of the configuration, `/edit/KIND` makes one. */
export function View({ segments: [collection, name] }: ViewProps) {
  const kind = KINDS.find((one) => one.collection === collection);
  if (kind === undefined) return <Empty>{t("notFound")}</Empty>;
  if (!may("administer")) return <Empty>{t("edit.forAdmins")}</Empty>;
  if (name === undefined)
    return (
      <Page title={t(kind.make)}>
        <ObjectEditor kind={kind} name={undefined} start={undefined} />
      </Page>
    );
  return (
    <Page title={`${t(kind.one)} ${name}`}>
      <Existing key={`${collection}/${name}`} kind={kind} name={name} />
    </Page>
  );
}

function Existing({ kind, name }: { readonly kind: EditedKind; readonly name: string }) {
  const read = useSignal<Read | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const load = (): void => {
    problem.value = undefined;
    readObject(kind, name).then(
      (found) => {
        read.value = found;
      },
      (error: unknown) => {
        problem.value = asProblem(error);
      },
    );
  };
  useEffect(load, []);
  if (problem.value !== undefined) return <ProblemBox problem={problem.value} retry={load} />;
  if (read.value === undefined)
    return (
      <p class="soft loading" role="status">
        {t("loading")}
      </p>
    );
  if (!read.value.editable) return <Fixed kind={kind} of={read.value} />;
  return <ObjectEditor kind={kind} name={name} start={read.value} />;
}

/** An object that cannot be changed over HTTP: its document, and where it is configured. */
function Fixed({ kind, of }: { readonly kind: EditedKind; readonly of: Read }) {
  return (
    <>
      <p class="notice">{of.place === undefined ? t("edit.builtIn") : t("edit.standsIn", { place: of.place })}</p>
      <section
        class="document"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard
        tabIndex={0}
        aria-label={t(kind.one)}
      >
        <pre>{jsonText(of.configuration, 2)}</pre>
      </section>
    </>
  );
}
