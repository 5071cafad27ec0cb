import type { ComponentType } from "preact";
import { Lazy } from "../../components/lazy.tsx";
import { ButtonLink, Link } from "../../components/link.tsx";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import { UpstreamState } from "../../components/upstream-state.tsx";
import { titleOf } from "../../core/model/layer.ts";
import { figure } from "../../core/model/stored.ts";
import { useShortcuts } from "../../core/page/keys.ts";
import { navigate, pathOf } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import { type Loaded, useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { bytes } from "../../core/text/format.ts";
import { type TextKey, t } from "../../core/text/i18n.ts";
import { AddressesTab } from "./addresses-tab.tsx";
import { ConfigurationTab } from "./configuration-tab.tsx";
import { GridSetsTab } from "./grid-sets-tab.tsx";
import { PreviewTab } from "./preview-tab.tsx";
import type { TabProps } from "./tab.ts";
import { MakeStale, TruncateLayer } from "./truncate-layer.tsx";
import { UseTab } from "./use-tab.tsx";

interface Tab {
  /** The path segment. "" is the first tab. */
  readonly name: string;
  readonly label: TextKey;
  readonly View: ComponentType<TabProps>;
}

const loadCoverage = async () => (await import("../coverage/coverage.tsx")).Coverage;
const loadJobs = async () => (await import("../jobs/job-list.tsx")).LayerJobs;

const TABS: readonly Tab[] = [
  { name: "", label: "layers.tab.preview", View: PreviewTab },
  { name: "coverage", label: "coverage", View: ({ layer }) => <Lazy load={loadCoverage} props={{ layer }} /> },
  { name: "jobs", label: "nav.jobs", View: ({ layer }) => <Lazy load={loadJobs} props={{ layer: layer.name }} /> },
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
          <ButtonLink kind="primary" to={`/new?${query}`} label={t("layers.seed")} />
          <ButtonLink kind="quiet" to={`/new?${query}&type=reseed`} label={t("layers.reseed")} />
        </>
      )}
      <MakeStale layer={layer} use={use} />
      <TruncateLayer layer={layer} use={use} onDone={usage.reload} />
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
