import { CopyButton } from "../../components/copy.tsx";
import { Panel } from "../../components/parts.tsx";
import { t } from "../../core/text/i18n.ts";

const IMPORT = "nuthatch import wms https://maps.example.org/wms > nuthatch.yaml";
const SERVE = "NUTHATCH_CONFIG=nuthatch.yaml nuthatch serve";
const FILE = `layers:
  - name: roads
    source: { type: wms, url: "https://maps.example.org/wms", layers: [roads] }
    gridSubsets: [{ gridSet: EPSG:900913 }]
    formats: [image/png]
`;

/** Shows the first steps on a server without layers. */
export function NoLayers() {
  return (
    <Panel title={t("noLayers.title")}>
      <p>{t("noLayers.import")}</p>
      <Text text={IMPORT} />
      <Text text={SERVE} />
      <p>{t("noLayers.file")}</p>
      <Text text={FILE} />
      <p>{t("noLayers.reload")}</p>
      <Text text="nuthatch reload" />
    </Panel>
  );
}

function Text({ text }: { readonly text: string }) {
  return (
    <div class="to-copy">
      <pre>{text}</pre>
      <CopyButton text={text} subject={text.split("\n", 1)[0] ?? ""} />
    </div>
  );
}
