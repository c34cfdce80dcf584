import { decodeText } from '../../../git/object/text.ts'
import { countOf, formatDay, formatSize } from '../format.ts'
import { revisionHref } from '../hrefs.ts'
import type { BlameData } from '../load/blame.ts'
import type { CommitInfo } from '../load/commit-info.ts'
import type { EntryKind } from '../load/directory.ts'
import type { FileData } from '../load/file.ts'
import type { RepositoryFrame, ShownPlace } from '../load/frame.ts'
import type { RepositoryData } from '../load/repository.ts'
import type { TreeData } from '../load/tree.ts'
import type { Site } from '../site.ts'
import { block, code, document, inline, link, list } from './markdown.ts'

export function repositoryText({ frame, about, tree, facts, release }: RepositoryData, { origin }: Site): string {
  const here = origin + frame.base
  return document(
    `# ${inline(frame.actor)}/${inline(frame.name)}`,
    frame.description === null ? null : inline(frame.description),
    list([
      `Clone: git clone ${here}`,
      `Record: ${about.uri}`,
      ...(about.website === null ? [] : [`Website: <${about.website}>`]),
      ...(about.topics.length === 0 ? [] : [`Topics: ${about.topics.map(inline).join(', ')}`]),
      ...(about.forkOf === null ? [] : [`Forked from: ${inline(about.forkOf)}`]),
      `Default branch: ${code(frame.defaultBranch)}; ${countOf(frame.branches, 'branch', 'branches')}: ${here}/branches, ${countOf(frame.tags, 'tag')}: ${here}/tags`,
      `Size: ${formatSize(about.size)}, ${countOf(about.objects, 'object')}`,
      ...(release === null ? [] : [`Newest release: ${code(release.name)}, all: ${here}/releases`]),
      ...(facts === null || facts.languages.length === 0
        ? []
        : [
            `Languages: ${facts.languages.map(({ name, share }) => `${name} ${Math.round(share * 100)} %`).join(', ')}`,
          ]),
      ...(facts === null || facts.contributors.length === 0
        ? []
        : [
            `Contributors: ${facts.contributorsTotal}, most by ${facts.contributors
              .slice(0, 3)
              .map(({ name }) => inline(name))
              .join(', ')}`,
          ]),
      ...(tree === null
        ? []
        : [
            `A file: ${here}/raw/HEAD/${tree.directory.readme?.name ?? '<path>'}`,
            `Archives: ${here}/archive/HEAD.tar.gz, ${here}/archive/HEAD.zip`,
            `History: ${here}/commits/HEAD`,
          ]),
    ]),
    tree === null ? `Nothing is on ${code(frame.defaultBranch)} yet.` : treeBody(tree, origin),
  )
}

export function treeText(data: TreeData, { origin }: Site): string {
  return document(placeTitle(data), treeBody(data, origin))
}

const KINDS: Readonly<Record<EntryKind, string>> = {
  directory: '/',
  file: '',
  executable: ' (executable)',
  link: ' (symbolic link)',
  submodule: ' (submodule)',
}

function treeBody({ frame, place, commit, directory }: TreeData, origin: string): string {
  const { entries, left, readme } = directory
  return document(
    commit === null ? null : `Commit ${shortCommit(commit)}`,
    list(
      entries.map(({ name, path, kind, commit: last }) => {
        const page = kind === 'directory' ? 'tree' : 'blob'
        const url = origin + revisionHref(frame.base, page, place.revision.name, path)
        const title = `${name}${kind === 'directory' ? '/' : ''}`
        const shown = kind === 'submodule' ? inline(title) : link(title, url)
        const mark = kind === 'directory' ? '' : KINDS[kind]
        return `${shown}${mark}${last === null ? '' : `: ${inline(last.subject)}, ${day(last.committer.time)}`}`
      }),
    ),
    left > 0 && `${countOf(left, 'entry', 'entries')} more.`,
    readme !== null && `## ${inline(readme.name)}`,
    readme !== null && block(readme.text, readme.kind === 'markdown' ? 'markdown' : ''),
  )
}

const CONTENT: Readonly<Record<Exclude<FileData['content']['kind'], 'text' | 'link'>, string>> = {
  image: 'A picture.',
  binary: 'A binary file.',
  'too-large': 'Too large to be shown here.',
}

export function fileText(data: FileData, { origin }: Site): string {
  const { frame, place, content, size, oid, lastChange, isExecutable } = data
  const raw = origin + revisionHref(frame.base, 'raw', place.revision.name, place.path)
  const shown =
    content.kind === 'text'
      ? block(content.text)
      : content.kind === 'link'
        ? `A symbolic link to ${code(content.target)}`
        : CONTENT[content.kind]
  return document(
    placeTitle(data),
    list([
      `Blob ${oid}, ${formatSize(size)}${isExecutable ? ', executable' : ''}`,
      `As it is: ${raw}`,
      ...(lastChange === null ? [] : [`Last changed by ${shortCommit(lastChange)}`]),
    ]),
    shown,
  )
}

export function blameText({ frame, place, text, ranges }: BlameData): string {
  const lines = text.split('\n')
  const shown = ranges.flatMap(({ start, end, commit, isKnown }) =>
    lines.slice(start, end).map((line, i) => {
      const mark = isKnown ? ' ' : '≤'
      return `${mark}${commit.oid.slice(0, 8)} ${day(commit.author.time).padStart(11)} ${String(start + i + 1).padStart(5)}) ${line}`
    }),
  )
  return document(placeTitle({ frame, place }), block(shown.join('\n')))
}

function placeTitle({ frame, place }: { frame: RepositoryFrame; place: ShownPlace }): string {
  const path = place.path.length === 0 ? '' : `: ${inline(decodeText(place.path))}`
  return `# ${inline(frame.actor)}/${inline(frame.name)} at ${inline(place.revision.name)}${path}`
}

/** A commit in a line: id, subject, author and day. */
export function shortCommit({ oid, subject, author, committer }: CommitInfo): string {
  return `${oid.slice(0, 12)} ${inline(subject)} (${inline(author.name)}, ${day(committer.time)})`
}

function day(time: number | null): string {
  return time === null ? 'no date' : formatDay(time)
}
