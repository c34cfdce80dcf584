/** How a branch is called in messages: `main` of `refs/heads/main`. */
export function shortBranch(ref: string): string {
  return ref.replace(/^refs\/heads\//, '')
}
