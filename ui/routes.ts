import { loadSettingsTexts, type TextKey } from "./core/text/i18n.ts";
import type { View } from "./view.ts";

interface ViewRoute {
  /** The first path segment. "" is the overview. */
  readonly name: string;
  readonly load: () => Promise<View>;
}

async function withSettingsTexts(view: Promise<View>): Promise<View> {
  await loadSettingsTexts();
  return view;
}

export const routes: readonly ViewRoute[] = [
  { name: "", load: () => import("./views/overview/view.tsx") },
  { name: "layers", load: () => import("./views/layers/view.tsx") },
  { name: "jobs", load: () => import("./views/jobs/view.tsx") },
  { name: "quota", load: () => import("./views/quota/view.tsx") },
  { name: "schedules", load: () => import("./views/schedules/view.tsx") },
  { name: "truncations", load: () => import("./views/truncations/view.tsx") },
  { name: "upstreams", load: () => import("./views/upstreams/view.tsx") },
  { name: "nodes", load: () => import("./views/nodes/view.tsx") },
  { name: "activity", load: () => import("./views/activity/view.tsx") },
  { name: "settings", load: () => withSettingsTexts(import("./views/settings/view.tsx")) },
  { name: "edit", load: () => withSettingsTexts(import("./views/edit/view.tsx")) },
  { name: "new", load: () => import("./views/new/view.tsx") },
];

interface NavigationEntry {
  readonly name: string;
  readonly label: TextKey;
  /** The second key of the shortcut "g KEY". */
  readonly key: string;
  /** Whether only a node of a cluster shows the view. */
  readonly isOfCluster?: true;
}

/** The views of the navigation, in its order. On a narrow screen the first four are in the bar. */
export const navigation: readonly NavigationEntry[] = [
  { name: "", label: "nav.overview", key: "o" },
  { name: "layers", label: "nav.layers", key: "l" },
  { name: "jobs", label: "nav.jobs", key: "j" },
  { name: "quota", label: "nav.quota", key: "q" },
  { name: "schedules", label: "nav.schedules", key: "s" },
  { name: "truncations", label: "nav.truncations", key: "t" },
  { name: "upstreams", label: "nav.upstreams", key: "u" },
  { name: "nodes", label: "nav.nodes", key: "n", isOfCluster: true },
  { name: "activity", label: "nav.activity", key: "a" },
  { name: "settings", label: "nav.settings", key: "e" },
];
