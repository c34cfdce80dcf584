import { countOf } from '../format.ts'
import { commitHref, revisionHref } from '../hrefs.ts'
import type { Html } from '../jsx/html.ts'
import type { CommitInfo } from '../load/commit-info.ts'
import type { Directory, DirectoryEntry, EntryKind } from '../load/directory.ts'
import type { RepositoryFrame, ShownPlace } from '../load/frame.ts'
import { DirectoryIcon, FileIcon, LinkIcon, SubmoduleIcon } from './icons.tsx'
import { Name, When } from './name.tsx'

const ICONS: Readonly<Record<EntryKind, () => Html>> = {
  directory: DirectoryIcon,
  file: FileIcon,
  executable: FileIcon,
  link: LinkIcon,
  submodule: SubmoduleIcon,
}

interface Props {
  readonly frame: RepositoryFrame
  readonly place: ShownPlace
  readonly directory: Directory
}

/** What lies in a directory, with what last changed each entry. */
export function FileList({ frame, place, directory }: Props) {
  const { entries, left, isComplete } = directory
  const hasHistory = entries.some(({ commit }) => commit !== null)
  return (
    <>
      <table class="files">
        <caption class="hidden">Files</caption>
        <colgroup>
          <col class="col-name" />
          <col class="col-change" />
          <col class="col-when" />
        </colgroup>
        <thead class="hidden">
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Last change</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr>
              <td class="file-name">
                <Entry base={frame.base} revision={place.revision.name} entry={entry} />
              </td>
              <td class="file-change">{entry.commit && <Change base={frame.base} commit={entry.commit} />}</td>
              <td class="file-when">{entry.commit && <When time={entry.commit.committer.time} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <p class="note">And {countOf(left, 'more entry', 'more entries')}: clone the repository to see them.</p>
      )}
      {!isComplete && hasHistory && (
        <p class="note">Entries without a commit were last changed further back than is looked for here.</p>
      )}
    </>
  )
}

function Entry({ base, revision, entry }: { base: string; revision: string; entry: DirectoryEntry }) {
  const { kind, name, path, oid } = entry
  const Icon = ICONS[kind]
  if (kind === 'submodule') {
    return (
      <span>
        <Icon />
        <Name>{name}</Name> <span class="oid">@ {oid.slice(0, 8)}</span>
      </span>
    )
  }
  return (
    <a href={revisionHref(base, kind === 'directory' ? 'tree' : 'blob', revision, path)}>
      <Icon />
      <Name>{name}</Name>
    </a>
  )
}

function Change({ base, commit }: { base: string; commit: CommitInfo }) {
  return (
    <a href={commitHref(base, commit.oid)}>
      <Name>{commit.subject || commit.oid.slice(0, 8)}</Name>
    </a>
  )
}
