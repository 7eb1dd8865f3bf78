# Completes odfl in zsh: eval "$(odfl completion zsh)"
_odfl() {
    local -a candidates
    if (( CURRENT == 2 )); then
        compadd -- run plot report data list show best export completion --help --version
        return
    fi
    case $words[2]:$words[CURRENT-1] in
        run:--config-dir | run:-cd) _files -/ ;;
        run:--cfg | run:-c) compadd -- job hydra all ;;
        run:*)
            if [[ $PREFIX == -* ]]; then
                compadd -- --multirun --cfg --config-dir --help --hydra-help --info --resolve
            else
                candidates=(${=$(COMP_LINE="${(j: :)words[1,CURRENT-1]} $PREFIX" $words[1] -sc query=bash 2>/dev/null)})
                (( $#candidates )) && compadd -S '' -- $candidates || _files
            fi
            ;;
        completion:*) compadd -- bash zsh ;;
        data:data) compadd -- check export example ;;
        *)
            if [[ $PREFIX == -* ]]; then
                compadd -- ${(fu)"$($words[1] $words[2] --help 2>/dev/null | grep -oE -- '--[a-z-]+')"}
            else
                if [[ " list show best export plot report " == *" $words[2] "* ]]; then
                    compadd -- outputs/{sweeps,runs}/*(N/:t)
                fi
                _files
            fi
            ;;
    esac
}
if (( ! $+functions[compdef] )); then
    autoload -Uz compinit && compinit
fi
compdef _odfl odfl
