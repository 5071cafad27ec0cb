import type { ComponentType } from "preact";
import { Link } from "../../components/link.tsx";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import { UpstreamState } from "../../components/upstream-state.tsx";
import type { Doc } from "../../core/api.ts";
import { bytes } from "../../core/format.ts";
import { type TextKey, t } from "../../core/i18n.ts";
import { useShortcuts } from "../../core/keys.ts";
import { titleOf } from "../../core/layer.ts";
import { type Loaded, useDocument } from "../../core/resource.ts";
import { navigate, pathOf } from "../../core/router.ts";
import { may } from "../../core/session.ts";
import { figure } from "../../core/stored.ts";
import { AddressesTab } from "./addresses-tab.tsx";
import { ConfigurationTab } from "./configuration-tab.tsx";
import { CoverageTab } from "./coverage-tab.tsx";
import { EmptyLayer, MakeStale } from "./empty-layer.tsx";
import { GridSetsTab } from "./grid-sets-tab.tsx";
import { JobsTab } from "./jobs-tab.tsx";
import { PreviewTab } from "./preview-tab.tsx";
import type { TabProps } from "./tab.ts";
import { UseTab } from "./use-tab.tsx";

interface Tab {
  /** The path segment. "" is the first tab. */
  readonly name: string;
  readonly label: TextKey;
  readonly View: ComponentType<TabProps>;
}

const TABS: readonly Tab[] = [
  { name: "", label: "layers.tab.preview", View: PreviewTab },
  { name: "coverage", label: "coverage", View: CoverageTab },
  { name: "jobs", label: "nav.jobs", View: JobsTab },
  { name: "use", label: "layers.tab.use", View: UseTab },
  { name: "addresses", label: "layers.tab.addresses", View: AddressesTab },
  { name: "grid-sets", label: "layers.gridSets", View: GridSetsTab },
  { name: "configuration", label: "layers.tab.configuration", View: ConfigurationTab },
];

/** One layer: its main facts, its actions, and the tab of the address. */
export function LayerPage({ name, tab = "" }: { readonly name: string; readonly tab?: string | undefined }) {
  const path = pathOf("layers", name);
  const layer = useDocument("Layer", path.slice(1), { on: ["configuration", "quota"] });
  const usage = useDocument("Usage", `usage?by=tileSet&layer=${encodeURIComponent(name)}`, {
    on: ["truncation", "quota"],
  });
  const found = TABS.find((one) => one.name === tab);
  useShortcuts(
    TABS.map(({ name: one, label }, n) => ({
      keys: String(n + 1),
      label,
      run: () => navigate(one === "" ? path : `${path}/${one}`),
    })),
  );
  return (
    <Page title={name} actions={<Actions layer={name} usage={usage} enabled={layer.data !== undefined} />}>
      <Loading of={layer}>
        {(document) => (
          <>
            <Summary layer={document} usage={usage.data} />
            <nav class="tabs" aria-label={t("layers.tabs")}>
              {TABS.map(({ name: one, label }) => (
                <Link key={one} to={one === "" ? path : `${path}/${one}`} current={one === tab}>
                  {t(label)}
                </Link>
              ))}
            </nav>
            {found === undefined ? <Empty>{t("notFound")}</Empty> : <found.View layer={document} usage={usage} />}
          </>
        )}
      </Loading>
    </Page>
  );
}

/**
 * Returns the usage of one layer. The total of a usage document always includes all layers, even if one layer was
 * requested.
 */
const useOf = (usage: Doc<"Usage"> | undefined, layer: string): Doc<"Usage">["layers"][number] | undefined =>
  usage?.layers.find((one) => one.layer === layer);

interface ActionsProps {
  readonly layer: string;
  readonly usage: Loaded<Doc<"Usage">>;
  readonly enabled: boolean;
}

function Actions({ layer, usage, enabled }: ActionsProps) {
  if (!enabled) return null;
  const use = useOf(usage.data, layer);
  const query = `layer=${encodeURIComponent(layer)}`;
  return (
    <>
      {may("operate") && (
        <>
          <Link to={`/new?${query}`} class="button primary">
            {t("layers.seed")}
          </Link>
          <Link to={`/new?${query}&type=reseed`} class="button quiet">
            {t("layers.reseed")}
          </Link>
        </>
      )}
      <MakeStale layer={layer} use={use} />
      <EmptyLayer layer={layer} use={use} onDone={usage.reload} />
    </>
  );
}

function Summary({ layer, usage }: { readonly layer: Doc<"Layer">; readonly usage: Doc<"Usage"> | undefined }) {
  const upstream = useDocument("Upstream", `upstreams/${layer.upstream}`, { on: ["upstream"] });
  const use = useOf(usage, layer.name);
  const { description, source } = layer.configuration;
  return (
    <div class="summary">
      {titleOf(layer) !== layer.name && <strong>{titleOf(layer)}</strong>}
      {description && <p class="soft">{description}</p>}
      <p class="soft">
        <Link to={pathOf("upstreams", layer.upstream)}>{upstream.data?.origin ?? layer.upstream}</Link> ({source.type}){" "}
        {upstream.data !== undefined && <UpstreamState state={upstream.data.state} />}
        {use !== undefined && (
          <span class="number">
            {" · "}
            {figure(t("layers.has", { count: use.tiles, size: bytes(use.bytes) }), use.complete)}
            {" · "}
            {t("layers.onDisk", { size: bytes(use.bytesOnDisk) })}
          </span>
        )}
      </p>
    </div>
  );
}
