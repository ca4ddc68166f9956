# fish completion for schedscope. What may stand there the program itself says: one candidate a line, its meaning behind a tab,
# and ":files SUFFIX…" for names of files.
function __schedscope_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] "$current" 2> /dev/null)
        if string match -q -- ':files*' $line
            set -l suffixes (string split -n ' ' -- (string replace -- ':files' '' $line))
            # Behind "--option=" only the file's name is completed.
            set -l before (string match -r -- '^-[^=]*=' $current)
            set -l name (string replace -r -- '^-[^=]*=' '' $current)
            set -l files (complete -C "'' $name")
            set -l wanted
            for path in (string replace -r -- '\t.*' '' $files)
                if string match -q -- '*/' $path; or test (count $suffixes) -eq 0
                    set -a wanted "$before$path"
                else if contains -- (string replace -r -- '.*\.' '' $path) $suffixes
                    set -a wanted "$before$path"
                end
            end
            # Any file where there is none of those.
            if test (count $wanted) -eq 0
                for path in (string replace -r -- '\t.*' '' $files)
                    set -a wanted "$before$path"
                end
            end
            printf '%s\n' $wanted
        else
            echo $line
        end
    end
end

complete -c schedscope -f -a '(__schedscope_complete)'
