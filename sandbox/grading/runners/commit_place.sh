#!/bin/sh
# Lay out a commit as it stood before git was asked to make it, and name the hooks that are there.
# Arguments: the worktree, a folder of objects, the branch, the commit, its parents in one word, and
# the names of the hooks. Run in the folder that becomes the repository.
set -eu

worktree=$1 objects=$2 branch=$3 commit=$4 parents=$5
shift 5
parent=${parents%% *}

git init -q --template= .
cp -R "$worktree/.git/config" .git/config
for each in hooks info; do
    if [ -d "$worktree/.git/$each" ]; then
        cp -R "$worktree/.git/$each" .git/
    fi
done
mkdir -p .git/objects/info
printf '%s\n' "$objects" "$worktree/.git/objects" > .git/objects/info/alternates
git symbolic-ref HEAD "$branch"
if [ -n "$parent" ]; then
    git update-ref "$branch" "$parent"
fi
git read-tree --reset -u "$commit"
git cat-file commit "$commit" | sed '1,/^$/d' > .git/COMMIT_EDITMSG

# A merge that is as git makes it by itself is not asked of `pre-commit`, as git does not ask.
is_gits_own() {
    [ "$parents" != "$parent" ] &&
        git merge-tree --write-tree $parents > .git/merged 2>&1 &&
        [ "$(head -n 1 .git/merged)" = "$(git rev-parse "$commit^{tree}")" ]
}

folder=$(git rev-parse --git-path hooks)
for name in "$@"; do
    if [ -x "$folder/$name" ]; then
        [ "$name" = pre-commit ] && is_gits_own || printf '%s\n' "$folder/$name"
    fi
done
