// tfemu completion: scripts that let the shells ask this program.
#include <CLI/CLI.hpp>

#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

constexpr const char* kBash = R"(# bash completion of tfemu: source <(tfemu completion bash)
_tfemu() {
  local words=("${COMP_WORDS[@]:1:COMP_CWORD}") line reply=() files= dirs=
  local current="${COMP_WORDS[COMP_CWORD]}"
  # readline cuts words at '=' and ':'; put them together again.
  if declare -F _get_comp_words_by_ref >/dev/null; then
    local cur prev cword all
    _get_comp_words_by_ref -n =: -w all -i cword cur
    words=("${all[@]:1:cword}")
    current=$cur
  fi
  while IFS= read -r line; do
    case $line in
      @files) files=1 ;;
      @dirs) dirs=1 ;;
      *) reply+=("$line") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  elif [[ $dirs ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$current")
  else
    COMPREPLY=("${reply[@]}")
    [[ ${#reply[@]} -eq 1 && ${reply[0]} == */ ]] && compopt -o nospace 2>/dev/null
    [[ ${#reply[@]} -eq 1 && ${reply[0]} == *= ]] && compopt -o nospace 2>/dev/null
    declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$current"
  fi
}
complete -F _tfemu tfemu
)";

constexpr const char* kZsh = R"(#compdef tfemu
# zsh completion of tfemu: source <(tfemu completion zsh), or a file _tfemu in $fpath
_tfemu() {
  local -a answers plain open
  local line
  answers=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $answers; do
    case $line in
      @files) _files; return ;;
      @dirs) _files -/; return ;;
      */|*=) open+=("$line") ;;
      ?*) plain+=("$line") ;;
    esac
  done
  (( ${#plain} )) && compadd -a plain
  (( ${#open} )) && compadd -S '' -a open
}
if [ "$funcstack[1]" = _tfemu ]; then _tfemu "$@"; else compdef _tfemu tfemu; fi
)";

constexpr const char* kFish = R"(# fish completion of tfemu: tfemu completion fish | source
function __tfemu_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
        switch $line
            case @files
                __fish_complete_path (commandline -ct)
            case @dirs
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c tfemu -f -a '(__tfemu_complete)'
)";

}  // namespace

void AddCompletion(CLI::App& app, Session& session) {
  auto shell = std::make_shared<std::string>();
  auto* verb =
      app.add_subcommand("completion", "A script that teaches a shell the verbs, flags, kinds and names");
  verb->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->footer("Examples:\n  source <(tfemu completion bash)\n  tfemu completion fish | source");
  verb->callback([=, &session] {
    session.action = [&session, shell] {
      session.terminal.Print(*shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish);
      return kOk;
    };
  });
}

}  // namespace tfemu::cli
