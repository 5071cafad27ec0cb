import { Argument, Command } from "commander";
import { print } from "../client/answer.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

/** The scripts contain no words: they run the program for each completion, so that they are never out of date. */
const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `# Completion of nuthatch for bash: source <(nuthatch completion bash)
_nuthatch_complete() {
  local kind="" line
  COMPREPLY=()
  {
    IFS= read -r kind
    while IFS= read -r line; do COMPREPLY+=("$line"); done
  } < <("$1" __complete bash -- "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  case $kind in
    files) compopt -o default ;;
    directories) compopt -o dirnames ;;
    *) compopt -o nosort ;;
  esac 2>/dev/null
  return 0
}
complete -F _nuthatch_complete nuthatch
`,
  zsh: `#compdef nuthatch
# Completion of nuthatch for zsh: nuthatch completion zsh > "\${fpath[1]}/_nuthatch"
_nuthatch() {
  local -a lines described
  local kind line tab=$'\\t'
  lines=("\${(@f)$("\${(Q)words[1]}" __complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  kind=$lines[1]
  shift lines
  case $kind in
    files) _files ;;
    directories) _files -/ ;;
    *)
      for line in $lines; do described+=("\${\${line%%$tab*}//:/\\\\:}:\${line#*$tab}"); done
      _describe -V nuthatch described
      ;;
  esac
}
if [[ $funcstack[1] == _nuthatch ]]; then _nuthatch "$@"; else compdef _nuthatch nuthatch; fi
`,
  fish: `# Completion of nuthatch for fish: nuthatch completion fish > ~/.config/fish/completions/nuthatch.fish
function __nuthatch_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct | string unescape)
    set -l lines ($words[1] __complete fish -- $words[2..] "$current" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case directories
            __fish_complete_directories "$current"
        case '*'
            printf '%s\\n' $lines[2..]
    end
end
complete -c nuthatch -f -k -a '(__nuthatch_complete)'
`,
};

/** `nuthatch completion SHELL`: prints the script by which a shell completes the words of this program. */
export const completionCommand = (): Command =>
  new Command("completion")
    .description("prints a script for the shell completion of commands, options, and names of a running server")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .addHelpText(
      "after",
      `
bash: source <(nuthatch completion bash)                              (in ~/.bashrc)
zsh:  nuthatch completion zsh > "\${fpath[1]}/_nuthatch"                (once, before compinit)
fish: nuthatch completion fish > ~/.config/fish/completions/nuthatch.fish
`,
    )
    .action((shell: (typeof SHELLS)[number]) => print(SCRIPTS[shell]));
