# Prints what an agent has to leave as it was: files, links, modes, index, stash, other branches.
# Run in the worktree; free.txt beside it holds a regular expression for the paths that are free.
here=$(dirname "$(readlink -f "$0")")
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' LC_ALL=C
kept() { grep -a -v -P -f "$here/free.txt" | sort; }
find . -path ./.git -prune -o -type f -printf '%P\n' | kept | tr '\n' '\0' | xargs -0 -r sha256sum --
find . -path ./.git -prune -o -type f -perm -u+x -printf '%P\n' | kept | sed 's/$/ is a program/'
find . -path ./.git -prune -o -type l -printf '%P -> %l\n' | kept
export GIT_LITERAL_PATHSPECS=1
git ls-files -z | tr '\0' '\n' | kept | tr '\n' '\0' | xargs -0 -r git ls-files --stage --
git stash list --format='stash %H'
git for-each-ref --format='%(refname) %(objectname)' | grep -v -F "$(git symbolic-ref HEAD) "
git symbolic-ref HEAD
find .git/hooks .git/config .git/info -type f -exec sha256sum -- {} + | sort
exit 0
