#!/bin/sh
# Lay out a commit as it stood before git was asked to make it, and name the hooks that are there.
# Arguments: the worktree, a folder of objects, the branch, the commit, its parent or nothing, and
# the names of the hooks. Run in the folder that becomes the repository.
set -eu

worktree=$1 objects=$2 branch=$3 commit=$4 parent=$5
shift 5

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

folder=$(git rev-parse --git-path hooks)
for name in "$@"; do
    if [ -x "$folder/$name" ]; then
        printf '%s\n' "$folder/$name"
    fi
done
