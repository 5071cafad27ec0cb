import { computed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Link } from "../components/link.tsx";
import type { Doc } from "../core/api.ts";
import { BASE } from "../core/base.ts";
import { connection, liveJobs } from "../core/events.ts";
import { timeOfDay } from "../core/format.ts";
import { t } from "../core/i18n.ts";
import { useShortcuts } from "../core/keys.ts";
import { useDocument } from "../core/resource.ts";
import { navigate, place, segments } from "../core/router.ts";
import { may } from "../core/session.ts";
import { navigation } from "../routes.ts";
import { AccountMenu } from "./account-menu.tsx";
import { FindLayer } from "./find-layer.tsx";
import { KeyList } from "./key-list.tsx";
import { ServerChips } from "./server-chips.tsx";

const running = computed(() => [...liveJobs.value.values()].filter(({ state }) => state === "running").length);

const STATUS_MS = 30_000;

const isInCluster = (status: Doc<"Status"> | undefined): boolean => status !== undefined && status.node !== null;

/** The frame of every view: navigation, number of running jobs, account, and a notice if the connection is lost. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const keysShown = useSignal(false);
  const findShown = useSignal(false);
  const { data: status } = useDocument("Status", "status", {
    on: ["upstream", "quota", "configuration"],
    everyMs: STATUS_MS,
  });
  const views = navigation.filter(({ isOfCluster }) => isOfCluster !== true || isInCluster(status));
  useShortcuts([
    ...views.map(({ name, label, key }) => ({ keys: `g ${key}`, label, run: () => navigate(`/${name}`) })),
    { keys: "n", label: "new" as const, run: () => navigate("/new") },
    { keys: "/", label: "find" as const, run: () => (findShown.value = true) },
    { keys: "?", label: "keys" as const, run: () => (keysShown.value = true) },
  ]);
  return (
    <>
      <a class="skip" href="#main">
        {t("skip")}
      </a>
      <header class="top">
        <Link to="/" class="brand">
          Nuthatch
        </Link>
        <Link to="/jobs?state=running" class="running">
          {t("running", { count: running.value })}
        </Link>
        {status !== undefined && <ServerChips status={status} />}
        <span class="spring" />
        <button
          type="button"
          class="quiet"
          aria-label={t("find")}
          title={t("find")}
          onClick={() => (findShown.value = true)}
        >
          ⌕
        </button>
        {may("operate") && (
          <Link to="/new" class="button primary">
            {t("new")}
          </Link>
        )}
        <button
          type="button"
          class="quiet keys-button"
          aria-label={t("keys")}
          title={t("keys")}
          onClick={() => (keysShown.value = true)}
        >
          ?
        </button>
        <AccountMenu />
      </header>
      <Navigation views={views} />
      <main id="main" tabIndex={-1}>
        <ConnectionNotice />
        {children}
      </main>
      {findShown.value && <FindLayer onClose={() => (findShown.value = false)} />}
      {keysShown.value && <KeyList onClose={() => (keysShown.value = false)} />}
    </>
  );
}

/** The number of views in the bar of a narrow screen. All further views are behind "More". */
const IN_BAR = 4;

function Navigation({ views }: { readonly views: typeof navigation }) {
  const isOpen = useSignal(false);
  const [current = ""] = segments.value;
  const shown = place.value;
  useEffect(() => {
    isOpen.value = false;
  }, [shown]);
  return (
    <nav class={isOpen.value ? "views open" : "views"} aria-label={t("nav")}>
      <ul>
        {views.map(({ name, label }, n) => (
          <li key={name} class={n < IN_BAR ? undefined : "further"}>
            <Link to={`/${name}`} current={name === current}>
              {t(label)}
            </Link>
          </li>
        ))}
        <li class="further">
          <a href={`${BASE}/docs/`}>{t("nav.docs")}</a>
        </li>
        <li class="open-more">
          <button type="button" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
            {t("nav.more")}
          </button>
        </li>
      </ul>
    </nav>
  );
}

function ConnectionNotice() {
  const state = connection.value;
  const text =
    state.kind === "lost" ? t("connection.lost", { time: timeOfDay(new Date(state.sinceMs).toISOString()) }) : "";
  return (
    <div role="status" class={text === "" ? "hidden" : "notice warn"}>
      {text}
    </div>
  );
}
