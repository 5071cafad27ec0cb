import { useSignal } from "@preact/signals";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import { jsonText } from "../../core/server/json.ts";
import { useLoadedOnce } from "../../core/server/loaded-once.ts";
import { may } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";
import type { ViewProps } from "../../view.ts";
import { ConnectWms } from "./connect-wms.tsx";
import { type EditedKind, KINDS, type Read, readObject } from "./kinds.ts";
import { ObjectEditor } from "./object-editor.tsx";

/**
 * `/edit/KIND/NAME` changes an object of the configuration, `/edit/KIND` makes one, and `/edit/connect` makes layers of
 * a WMS.
 */
export function View({ segments: [collection, name] }: ViewProps) {
  if (collection === "connect")
    return (
      <Page title={t("edit.newLayer")}>
        {may("administer") ? <ConnectWms /> : <Empty>{t("edit.forAdmins")}</Empty>}
      </Page>
    );
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
  const attempt = useSignal(0);
  const { value, problem } = useLoadedOnce(() => readObject(kind, name), attempt.value);
  const retry = (): void => {
    attempt.value++;
  };
  return (
    <Loading of={{ data: value, problem, reload: retry }}>
      {(read) =>
        read.editable ? <ObjectEditor kind={kind} name={name} start={read} /> : <Fixed kind={kind} of={read} />
      }
    </Loading>
  );
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
