import { Empty, Loading, Page } from "../../components/parts.tsx";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { may } from "../../core/session.ts";
import { TruncateButton } from "./truncate-button.tsx";
import { TruncationTable } from "./truncation-table.tsx";

/** Lists the truncations of layers, the newest first, and undoes those whose tiles are kept. */
export function View() {
  const loaded = useDocument("Truncations", "truncations", { on: ["truncation"] });
  return (
    <Page title={t("nav.truncations")} actions={may("operate") && <TruncateButton onDone={loaded.reload} />}>
      <p class="soft">{t("truncations.about")}</p>
      <Loading of={loaded}>
        {({ truncations }) =>
          truncations.length === 0 ? (
            <Empty>{t("truncations.none")}</Empty>
          ) : (
            <TruncationTable truncations={truncations} reload={loaded.reload} />
          )
        }
      </Loading>
    </Page>
  );
}
