#!/bin/sh
# The command line as a command of a shell. A kept process runs it, with the standard input, output
# and error of this one. KEPT is the directory through which the two talk: see kept-shell.ts.

# The redirections below change descriptors 0 and 1 for a moment.
exec 7<&0 8>&1 9>&2
printf '%s\0' "$PWD" "$@" > "$KEPT/$$"
mkfifo "$KEPT/$$.ended"
echo $$ > "$KEPT/asked"
read -r code problem < "$KEPT/$$.ended"
test -z "$problem" || echo "$problem" >&2
exit "$code"
