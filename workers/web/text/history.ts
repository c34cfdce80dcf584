import { decodeText } from '../../../git/object/text.ts'
import { countOf, formatTime } from '../format.ts'
import { commitHref, encodePath, revisionHref, withQuery } from '../hrefs.ts'
import type { CommitData } from '../load/commit.ts'
import type { Person } from '../load/commit-info.ts'
import type { CommitsData } from '../load/commits.ts'
import type { CompareData } from '../load/compare.ts'
import type { DiffPage, FileDiff } from '../load/diff.ts'
import type { RepositoryFrame } from '../load/frame.ts'
import type { RefsData } from '../load/refs.ts'
import type { Site } from '../site.ts'
import { shortCommit } from './files.ts'
import { block, code, document, inline, list } from './markdown.ts'

export function commitsText({ frame, place, commits, next }: CommitsData, { origin }: Site): string {
  const { name } = place.revision
  const path = place.path.length === 0 ? '' : ` to ${code(decodeText(place.path))}`
  const here = origin + revisionHref(frame.base, 'commits', name, place.path)
  return document(
    `# Commits${path} on ${inline(name)} of ${repositoryName(frame)}`,
    commits.length === 0
      ? 'There are none.'
      : list(commits.map((commit) => `${shortCommit(commit)} ${origin}${commitHref(frame.base, commit.oid)}`)),
    next !== null && `Older: ${withQuery(here, { after: next })}`,
  )
}

export function commitText({ frame, commit, diff }: CommitData, { origin }: Site): string {
  const here = origin + commitHref(frame.base, commit.oid)
  return document(
    `# ${inline(commit.subject)}`,
    list([
      `Commit ${commit.oid} of ${repositoryName(frame)}`,
      ...commit.parents.map((oid) => `Parent ${origin}${commitHref(frame.base, oid)}`),
      `Author: ${personLine(commit.author)}`,
      `Committer: ${personLine(commit.committer)}`,
    ]),
    commit.body !== '' && block(commit.body),
    diffText(diff, here),
  )
}

export function compareText(data: CompareData, { origin }: Site): string {
  const { frame, base, head, commits, ahead, behind, mergeBase, diff } = data
  const here = `${origin}${frame.base}/compare/${encodePath(base)}...${encodePath(head)}`
  return document(
    `# ${inline(base)}...${inline(head)} in ${repositoryName(frame)}`,
    mergeBase === null
      ? 'Their histories have nothing in common.'
      : `${countOf(ahead, 'commit')} ahead, ${behind} behind, since ${mergeBase}`,
    list(commits.map(shortCommit)),
    ahead > commits.length && `${countOf(ahead - commits.length, 'commit')} more.`,
    diffText(diff, here),
  )
}

export function refsText({ frame, kind, refs, page, pages }: RefsData, { origin }: Site): string {
  const here = `${origin}${frame.base}/${kind}`
  return document(
    `# ${kind === 'branches' ? 'Branches' : 'Tags'} of ${repositoryName(frame)}`,
    list(
      refs.map(({ name, commit, isDefault, annotation }) => {
        const mark = isDefault ? ' (default)' : ''
        const says = annotation === null || annotation.subject === '' ? '' : `: ${inline(annotation.subject)}`
        return `${code(name)}${mark}${says} → ${commit === null ? 'no commit' : shortCommit(commit)}`
      }),
    ),
    page < pages && `Page ${page} of ${pages}; the next one: ${withQuery(here, { page: page + 1 })}`,
  )
}

function diffText({ total, hasMore, files, from, next, added, deleted }: DiffPage, here: string): string {
  const range = files.length === total ? '' : `, of which ${from + 1} to ${from + files.length} are here`
  return document(
    `## ${hasMore ? 'More than ' : ''}${countOf(total, 'file')} changed${range}: +${added} −${deleted}`,
    ...files.map(fileDiff),
    next !== null && `The next files: ${withQuery(here, { from: next })}`,
  )
}

const WORDS = {
  binary: 'A binary file: its content is not compared.',
  'too-large': 'Too much differs to be shown here.',
  same: 'The content is the same.',
} as const

function fileDiff({ status, path, oldPath, modeChange, body, added, deleted }: FileDiff): string {
  const from = oldPath === null ? '' : `${inline(decodeText(oldPath))} → `
  const mode = modeChange === null ? '' : `, ${modeChange}`
  const shown = body.kind === 'patch' ? block(body.text, 'diff') : body.kind === 'sections' ? null : WORDS[body.kind]
  return document(`### ${from}${inline(decodeText(path))} (${status}${mode}, +${added} −${deleted})`, shown)
}

function personLine({ name, email, time }: Person): string {
  return `${inline(name)} ${inline(`<${email}>`)}${time === null ? '' : `, ${formatTime(time)}`}`
}

function repositoryName({ actor, name }: RepositoryFrame): string {
  return `${inline(actor)}/${inline(name)}`
}
