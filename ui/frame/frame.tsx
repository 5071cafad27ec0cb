import { computed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialogs/dialog.tsx";
import { ButtonLink, Link } from "../components/link.tsx";
import { shortcuts, useShortcuts } from "../core/page/keys.ts";
import { navigate, place, segments } from "../core/page/router.ts";
import type { Doc } from "../core/server/api.ts";
import { BASE } from "../core/server/base.ts";
import { connection, liveJobs } from "../core/server/events.ts";
import { useDocument } from "../core/server/resource.ts";
import { may } from "../core/server/session.ts";
import { timeOfDay } from "../core/text/format.ts";
import { t } from "../core/text/i18n.ts";
import { navigation } from "../routes.ts";
import { AccountMenu } from "./account-menu.tsx";
import { AlertStrip } from "./alert-strip.tsx";
import { FindLayer } from "./find-layer.tsx";
import { Logo } from "./logo.tsx";
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
          <Logo />
          <span class="brand-name">Nuthatch</span>
        </Link>
        <Link to="/jobs?state=running" class="running">
          {t("running", { count: running.value })}
        </Link>
        {status !== undefined && <ServerChips status={status} />}
        <span class="spring" />
        <Button label="⌕" class="quiet" name={t("find")} title={t("find")} onPress={() => (findShown.value = true)} />
        {may("operate") && <ButtonLink kind="primary" to="/new" label={t("new")} />}
        <Button
          label="?"
          class="quiet keys-button"
          name={t("keys")}
          title={t("keys")}
          onPress={() => (keysShown.value = true)}
        />
        <AccountMenu />
      </header>
      <Navigation views={views} />
      <main id="main" tabIndex={-1}>
        <ConnectionNotice />
        {status !== undefined && <AlertStrip entries={status.attention} />}
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
  const isFurther = views.findIndex(({ name }) => name === current) >= IN_BAR;
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
          <Button
            label={t("nav.more")}
            class={isFurther ? "current" : undefined}
            aria-expanded={isOpen.value}
            onPress={() => (isOpen.value = !isOpen.value)}
          />
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

/** Lists the keyboard shortcuts of the view. */
function KeyList({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={t("keys")} onClose={onClose}>
      <table class="keys">
        <tbody>
          {shortcuts.value.map(({ keys, label }) => (
            <tr key={keys}>
              <th scope="row">
                {keys.split(" ").map((key, n) => (
                  <span key={`${n}${key}`}>
                    {n > 0 && ` ${t("keys.then")} `}
                    <kbd>{key}</kbd>
                  </span>
                ))}
              </th>
              <td>{t(label)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
