import { Loading, Page } from "../../components/parts.tsx";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { place } from "../../core/router.ts";
import { LayerMap } from "../../map/layer-map.tsx";

/** The form of a new job. The address names the layer: `layer`, `gridSet` and `format`. */
export function View() {
  const { query } = place.value;
  const name = query.get("layer") ?? undefined;
  const layer = useDocument("Layer", name === undefined ? undefined : `layers/${encodeURIComponent(name)}`);
  return (
    <Page title={t("new")}>
      {name !== undefined && (
        <Loading of={layer}>
          {(document) => (
            <LayerMap
              layer={document}
              gridSet={query.get("gridSet") ?? document.defaultGridSet ?? ""}
              format={query.get("format") ?? document.formats[0] ?? ""}
              label={document.title}
            />
          )}
        </Loading>
      )}
    </Page>
  );
}
