# Completes odfl in bash: eval "$(odfl completion bash)"
_odfl() {
    local line=${COMP_LINE:0:COMP_POINT} verbs="run plot report data list show best export completion"
    local word=${line##*[[:space:]]} before=${line%"${line##*[[:space:]]}"}
    local given candidates
    read -ra given <<<"$before"
    COMPREPLY=()
    if ((${#given[@]} == 1)); then
        COMPREPLY=($(compgen -W "$verbs --help --version" -- "$word"))
        return
    fi
    case ${given[1]}${given[-1]} in
        run--config-dir | run-cd) return ;; # a path
        run--cfg | run-c) candidates="job hydra all" ;;
        run*)
            if [[ $word == -* ]]; then
                candidates="--multirun --cfg --config-dir --help --hydra-help --info --resolve"
            else
                candidates=$(COMP_LINE=$line "${given[0]}" -sc query=bash 2>/dev/null)
                compopt -o nospace 2>/dev/null
            fi
            ;;
        completion*) candidates="bash zsh" ;;
        datadata) candidates="check export example" ;;
        *)
            if [[ $word == -* ]]; then
                candidates=$("${given[0]}" "${given[1]}" --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)
            elif [[ " list show best export plot report " == *" ${given[1]} "* ]]; then
                candidates=$(ls outputs/sweeps outputs/runs 2>/dev/null | grep -v :) # or else a path
                if [[ -n $word && -z $(compgen -W "$candidates" -- "$word") ]]; then # the beginning of a hash
                    COMPREPLY=($(grep -E -- "-$word[0-9a-f]*$" <<<"$candidates" 2>/dev/null))
                    return
                fi
            else
                return # a path
            fi
            ;;
    esac
    COMPREPLY=($(compgen -W "$candidates" -- "$word"))
    if [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then # bash replaces what follows the =
        COMPREPLY=("${COMPREPLY[@]#"${word%=*}="}")
    fi
}
complete -o default -F _odfl odfl
