# bash completion for schedscope. What may stand there the program itself says: one candidate a line, and ":files SUFFIX…" for
# names of files.
_schedscope() {
    local IFS=$'\n'
    local current=${COMP_WORDS[COMP_CWORD]} line file
    # bash takes words apart at "=", and wants only what is behind it.
    local behind_equals=
    [[ $current == = || (COMP_CWORD -gt 0 && ${COMP_WORDS[COMP_CWORD-1]} == =) ]] && behind_equals=1
    [[ $current == = ]] && current=
    COMPREPLY=()
    for line in $("$1" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null); do
        line=${line%%$'\t'*}
        if [[ $line == :files* ]]; then
            _schedscope_files "$current" ${line#:files}
        else
            [[ $behind_equals ]] && line=${line#*=}
            COMPREPLY+=("$line")
            [[ $line == *= ]] && compopt -o nospace
        fi
    done
}

# Folders, and files with one of the suffixes; any file where there is none of those.
_schedscope_files() {
    local IFS=$'\n' current=$1 suffixes=$2 file others=()
    suffixes=${suffixes# }
    [[ $current == [\"\']* ]] && current=${current:1}
    current=${current/#\~\//$HOME/}
    compopt -o filenames
    for file in $(compgen -f -- "$current"); do
        if [[ -d $file || -z $suffixes || $file == *.@(${suffixes// /|}) ]]; then
            COMPREPLY+=("$file")
        else
            others+=("$file")
        fi
    done
    [[ ${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=("${others[@]}")
}

complete -F _schedscope schedscope
