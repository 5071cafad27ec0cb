import { useEffect, useErrorBoundary, useLayoutEffect, useRef } from "preact/hooks";
import { Empty, LoadingNote, ProblemBox } from "./components/parts.tsx";
import { Toasts } from "./components/toast.tsx";
import { segments } from "./core/page/router.ts";
import { asProblem } from "./core/server/api.ts";
import { connection, listenToEvents } from "./core/server/events.ts";
import { useLoadedOnce } from "./core/server/loaded-once.ts";
import { readSession, session } from "./core/server/session.ts";
import { t } from "./core/text/i18n.ts";
import { Frame } from "./frame/frame.tsx";
import { SignIn } from "./frame/sign-in.tsx";
import { routes } from "./routes.ts";
import type { View, ViewProps } from "./view.ts";

/** The whole console: the sign-in form, or the frame with the view of the address. */
export function App() {
  const account = session.value;
  const { kind } = account;
  const isIn = kind === "user" || kind === "open";
  useEffect(() => {
    return isIn ? listenToEvents() : undefined;
  }, [isIn]);
  return (
    <>
      {isIn ? (
        <Frame>
          <CurrentView />
        </Frame>
      ) : account.kind === "refused" ? (
        <main>
          <h1>Nuthatch</h1>
          <ProblemBox problem={asProblem(new Error(account.message))} retry={() => void readSession()} />
        </main>
      ) : (
        <SignIn />
      )}
      <Toasts />
    </>
  );
}

function CurrentView() {
  const [name = "", ...rest] = segments.value;
  const route = routes.find((one) => one.name === name);
  if (route === undefined) return <Empty>{t("notFound")}</Empty>;
  return <LazyView key={name} load={route.load} segments={rest} />;
}

/** Shows a view after its files have been loaded. An error in the view does not affect the frame. */
function LazyView({ load, segments: rest }: { readonly load: () => Promise<View> } & ViewProps) {
  const { value: loaded, problem: failure } = useLoadedOnce(load, load);
  const [fault, reset] = useErrorBoundary((error: unknown) => window.reportError(error));
  // After a navigation the focus moves to the title, where screen readers then begin. This happens before the view is
  // painted: later the focus might leave a field in which the user is already typing.
  useLayoutEffect(() => {
    if (loaded !== undefined) document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }, [loaded, rest.join("/")]);
  const isAway = connection.value.kind === "lost";
  const isMissing = failure !== undefined;
  const wasAway = useRef(false);
  // A browser does not load a file again whose loading has failed, so the page is loaded when the server is back.
  useEffect(() => {
    if (isMissing && wasAway.current && !isAway) window.location.reload();
    wasAway.current = isAway;
  }, [isMissing, isAway]);
  const problem = fault ?? (isAway && isMissing ? new Error(t("fault.away")) : failure);
  if (problem !== undefined)
    return (
      <>
        <p>{t("fault")}</p>
        <ProblemBox
          problem={asProblem(problem)}
          retry={() => (fault === undefined ? window.location.reload() : reset())}
        />
      </>
    );
  if (loaded === undefined) return <LoadingNote />;
  return <loaded.View segments={rest} />;
}
