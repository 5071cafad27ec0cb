import { useSignal } from "@preact/signals";
import type { TargetedSubmitEvent } from "preact";
import { useRef } from "preact/hooks";
import { bound, TextField } from "../../components/fields/text-field.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Field, Panel, Refusal } from "../../components/parts.tsx";
import { toast } from "../../components/toast.tsx";
import { navigate, pathOf } from "../../core/page/router.ts";
import { type Doc, Problem, send } from "../../core/server/api.ts";
import { useBusy } from "../../core/server/busy.ts";
import { isRecord } from "../../core/server/json.ts";
import { useLoadedOnce } from "../../core/server/loaded-once.ts";
import { t } from "../../core/text/i18n.ts";

type Proposal = Doc<"WmsProposal">;
type Proposed = Proposal["layers"][number];

interface Account {
  readonly username?: string;
  readonly password?: string;
}

/** The pictures of at most this many layers are requested, one after the other. */
const MOST_PICTURES = 40;

const textOf = (configuration: Proposed["configuration"], key: string): string => {
  const value = configuration[key];
  return typeof value === "string" ? value : "";
};

/** Makes layers of a WMS: its address, its layers with pictures, and the configuration that the server proposes. */
export function ConnectWms() {
  const [url, username, password, prefix] = [useSignal(""), useSignal(""), useSignal(""), useSignal("")];
  const proposal = useSignal<Proposal | undefined>(undefined);
  const refusal = useSignal("");
  const { isBusy, run } = useBusy(({ message }) => (refusal.value = message));
  const account: Account = username.value === "" ? {} : { username: username.value, password: password.value };
  const read = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    refusal.value = "";
    proposal.value = undefined;
    void run(async () => {
      proposal.value = await send<Proposal>({
        method: "POST",
        path: "wms/layers",
        body: { url: url.value.trim(), ...account, ...(prefix.value === "" ? {} : { prefix: prefix.value }) },
      });
    });
  };
  return (
    <div class="stack">
      <Panel title={t("connect.title")}>
        <form class="stack" onSubmit={read}>
          <div class="fields">
            <TextField label={t("connect.url")} hint={t("connect.url.hint")} required {...bound(url)} />
            <TextField label={t("connect.prefix")} hint={t("connect.prefix.hint")} {...bound(prefix)} />
            <TextField label={t("connect.username")} hint={t("connect.optional")} {...bound(username)} />
            <Field label={t("signIn.password")}>
              {({ id }) => (
                <input
                  id={id}
                  type="password"
                  autocomplete="off"
                  value={password.value}
                  onInput={({ currentTarget }) => (password.value = currentTarget.value)}
                />
              )}
            </Field>
          </div>
          <Refusal text={refusal.value} />
          <div class="buttons">
            <ButtonLink kind="quiet" to="/edit/layers" label={t("connect.asJson")} />
            <button type="submit" class="primary" disabled={isBusy.value}>
              {t(isBusy.value ? "loading" : "connect.read")}
            </button>
          </div>
        </form>
      </Panel>
      {proposal.value !== undefined && <Layers proposal={proposal.value} account={account} />}
    </div>
  );
}

function Layers({ proposal, account }: { readonly proposal: Proposal; readonly account: Account }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const refusal = useSignal("");
  const { isBusy, run } = useBusy(({ message }) => (refusal.value = message));
  // The pictures wait for each other, because a WMS may be slow.
  const queue = useRef(Promise.resolve());
  const save = (): Promise<void> => {
    const layers = proposal.layers.filter(({ configuration }) => chosen.value.has(textOf(configuration, "name")));
    return run(async () => {
      for (const gridSet of neededGridSets(proposal, layers)) await put("grid-sets", textOf(gridSet, "id"), gridSet);
      for (const { configuration } of layers) await put("layers", textOf(configuration, "name"), configuration);
      toast(t("connect.done", { count: layers.length }));
      const [first] = layers;
      navigate(layers.length === 1 && first ? pathOf("layers", textOf(first.configuration, "name")) : "/layers");
    });
  };
  return (
    <Panel title={proposal.title || t("nav.layers")}>
      {proposal.warnings.map((warning) => (
        <p key={warning} class="soft">
          {warning}
        </p>
      ))}
      <ul class="offered">
        {proposal.layers.map((layer, n) => (
          <Offered
            key={textOf(layer.configuration, "name")}
            layer={layer}
            account={account}
            queue={n < MOST_PICTURES ? queue : undefined}
            isChosen={chosen.value.has(textOf(layer.configuration, "name"))}
            onChange={(isChosen) => {
              const next = new Set(chosen.value);
              if (isChosen) next.add(textOf(layer.configuration, "name"));
              else next.delete(textOf(layer.configuration, "name"));
              chosen.value = next;
            }}
          />
        ))}
      </ul>
      <p class="soft">{t("connect.price")}</p>
      <Refusal text={refusal.value} />
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={isBusy.value || chosen.value.size === 0}
          onClick={() => void save()}
        >
          {t("connect.save", { count: chosen.value.size })}
        </button>
      </div>
    </Panel>
  );
}

interface OfferedProps {
  readonly layer: Proposed;
  readonly account: Account;
  /** Resolves when the picture before has arrived. Undefined: no picture is requested. */
  readonly queue: { current: Promise<void> } | undefined;
  readonly isChosen: boolean;
  readonly onChange: (isChosen: boolean) => void;
}

function Offered({ layer, account, queue, isChosen, onChange }: OfferedProps) {
  const { configuration, picture, isTaken } = layer;
  const { value, problem } = useLoadedOnce(async (signal) => {
    if (queue === undefined || picture === null) return undefined;
    const before = queue.current;
    const shown = before.then(() =>
      signal.aborted
        ? undefined
        : send<Doc<"WmsPicture">>({ method: "POST", path: "wms/picture", body: { url: picture, ...account } }, signal),
    );
    queue.current = shown.then(
      () => undefined,
      () => undefined,
    );
    return (await shown)?.picture;
  }, picture);
  const gridSets = Array.isArray(configuration["gridSubsets"])
    ? configuration["gridSubsets"].filter(isRecord).map(({ gridSet }) => String(gridSet))
    : [];
  return (
    <li>
      <label class="choice">
        <input
          type="checkbox"
          checked={isChosen}
          disabled={isTaken}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        <span class="picture" title={problem?.message}>
          {value !== undefined && <img src={value} alt="" />}
        </span>
        <span>
          <strong>{textOf(configuration, "title")}</strong> <code>{textOf(configuration, "name")}</code>
          <small class="below">{isTaken ? t("connect.taken") : gridSets.join(", ")}</small>
        </span>
      </label>
    </li>
  );
}

/** Returns the proposed grid sets that some layers use. */
function neededGridSets(proposal: Proposal, layers: readonly Proposed[]): readonly Proposed["configuration"][] {
  const used = JSON.stringify(layers.map(({ configuration }) => configuration["gridSubsets"]));
  return proposal.gridSets.filter((gridSet) => used.includes(JSON.stringify(textOf(gridSet, "id"))));
}

/** Makes an object. An equal grid set of an earlier import stays. */
async function put(collection: string, name: string, body: unknown): Promise<void> {
  const path = `${collection}/${encodeURIComponent(name)}`;
  try {
    await send({ method: "PUT", path, body, headers: { "If-None-Match": "*" } });
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 412 || collection !== "grid-sets") throw error;
  }
}
