import { Empty, Loading, Page } from "../../components/parts.tsx";
import type { Doc } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import type { ViewProps } from "../../routes.ts";
import { Coverage } from "../coverage/coverage.tsx";

/** The layers. `/layers/NAME/coverage` is the tab of a layer that shows where its tiles are (`Coverage`). */
export function View({ segments: [name, tab] }: ViewProps) {
  if (name !== undefined && tab === "coverage") return <CoverageTab name={name} />;
  return <Page title={t("nav.layers")}>{name === undefined ? null : <Empty>{t("notFound")}</Empty>}</Page>;
}

function CoverageTab({ name }: { readonly name: string }) {
  const layer = useDocument("Layer", `layers/${encodeURIComponent(name)}`, { on: ["configuration"] });
  return (
    <Page title={`${name} · ${t("coverage")}`}>
      <Loading of={layer}>{(document: Doc<"Layer">) => <Coverage layer={document} />}</Loading>
    </Page>
  );
}
