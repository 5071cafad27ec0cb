import { useSignal } from "@preact/signals";
import type { ApiRequest } from "../../core/server/api.ts";
import { curlOf } from "../../core/server/command.ts";
import { t } from "../../core/text/i18n.ts";
import { Button } from "../button.tsx";
import { CopyList } from "../copy.tsx";
import { Dialog } from "./dialog.tsx";

interface CommandsProps {
  readonly request: ApiRequest;
  readonly command?: string | undefined;
  /** The action in the name of the button. */
  readonly subject: string;
  /** Shows the commands at once, not behind a button. */
  readonly isOpen?: boolean;
}

/** Shows a request as curl and as a command line of `nuthatch`, for use in scripts. */
export function Commands({ request, command, subject, isOpen = false }: CommandsProps) {
  const shown = useSignal(false);
  if (isOpen) return <CommandList request={request} command={command} />;
  return (
    <>
      <Button
        label={">_"}
        class="more"
        name={t("commands.of", { subject })}
        title={t("commands.title")}
        onPress={() => (shown.value = true)}
      />
      {shown.value && (
        <Dialog title={t("commands.of", { subject })} onClose={() => (shown.value = false)}>
          <CommandList request={request} command={command} />
        </Dialog>
      )}
    </>
  );
}

function CommandList({ request, command }: Pick<CommandsProps, "request" | "command">) {
  return <CommandLines curl={curlOf(request)} command={command} />;
}

/** Shows a curl command and an equivalent command line of `nuthatch`. */
export const CommandLines = ({ curl, command }: { readonly curl: string; readonly command?: string | undefined }) => (
  <CopyList entries={[["curl", curl], ...(command === undefined ? [] : [[t("commands.line"), command] as const])]} />
);
