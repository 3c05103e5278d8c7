"""``rungwise completion bash|zsh|fish``: the lines that make a shell complete the command."""

from __future__ import annotations

from collections.abc import Sequence

from runner.execution.command_line import OneSentenceParser, reporting
from runner.execution.errors import unknown

BASH = r"""# eval "$(rungwise completion bash)", for example in ~/.bashrc
_rungwise() {
    local line="${COMP_LINE:0:COMP_POINT}" found prefix word
    mapfile -t found < <(rungwise __complete "$line" 2>/dev/null)
    # Readline replaces what stands behind the last = or : of a word.
    word="${line##*[[:space:]]}"
    prefix="${word%"${word##*[=:]}"}"
    COMPREPLY=()
    for word in "${found[@]}"; do
        [ -n "$word" ] && COMPREPLY+=("${word#"$prefix"}")
    done
    case "${found[0]}" in *[=./,]) compopt -o nospace ;; esac
}
complete -F _rungwise rungwise
"""

ZSH = r"""# eval "$(rungwise completion zsh)", for example in ~/.zshrc behind compinit
_rungwise() {
    local -a found open closed
    found=("${(@f)$(rungwise __complete "${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null)}")
    open=(${(M)found:#*[=./,]})
    closed=(${found:#*[=./,]})
    (( $#open )) && compadd -Q -S '' -- $open
    (( $#closed )) && compadd -Q -- $closed
}
compdef _rungwise rungwise
"""

FISH = r"""# rungwise completion fish | source, for example in ~/.config/fish/config.fish
function __rungwise_complete
    rungwise __complete (commandline -cp) 2>/dev/null
end
complete -c rungwise -f -a '(__rungwise_complete)'
"""

SHELLS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@reporting
def main(argv: Sequence[str]) -> int:
    """The command line; exit status 2 for a mistake in the command."""
    parser = OneSentenceParser(
        prog="rungwise completion",
        description='Prints what a shell needs to complete the command: eval "$(rungwise completion bash)"',
    )
    parser.add_argument("shell", metavar="bash|zsh|fish")
    given = parser.parse_args(argv)
    if given.shell not in SHELLS:
        raise unknown("shell", given.shell, SHELLS)
    print(SHELLS[given.shell], end="")
    return 0
