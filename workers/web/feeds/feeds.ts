import { REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { accountHref, commitHref, encodePath, revisionHref, withQuery } from '../hrefs.ts'
import type { AccountData } from '../load/account.ts'
import type { CommitInfo } from '../load/commit-info.ts'
import type { CommitsData } from '../load/commits.ts'
import { type RepositoryFrame, shortName } from '../load/frame.ts'
import type { RefsData } from '../load/refs.ts'
import type { Site } from '../site.ts'
import { atomFeed } from './atom.ts'

/** Where the feeds are. */
export function commitsFeedHref(base: string, revision: string): string {
  return withQuery(`${base}/commits.atom`, { rev: revision })
}

export function tagsFeedHref(base: string): string {
  return `${base}/tags.atom`
}

export function accountFeedHref(actor: string): string {
  return `/-/feed/${encodePath(actor)}`
}

/** The newest commits of a branch. */
export function commitsFeed({ frame, place, commits }: CommitsData, { origin }: Site): string {
  const { name } = place.revision
  return atomFeed({
    id: `${uriOf(frame)}#commits-${encodePath(name)}`,
    url: origin + commitsFeedHref(frame.base, name),
    page: origin + revisionHref(frame.base, 'commits', name),
    title: `Commits on ${name} of ${frame.actor}/${frame.name}`,
    author: frame.actor,
    entries: commits.map((commit) => ({
      ...entryOf(commit, frame, origin),
      title: commit.subject || '(no message)',
      content: commit.body,
    })),
  })
}

/** The newest tags, with what they say. */
export function tagsFeed({ frame, refs }: RefsData, { origin }: Site): string {
  return atomFeed({
    id: `${uriOf(frame)}#tags`,
    url: origin + tagsFeedHref(frame.base),
    page: `${origin}${frame.base}/tags`,
    title: `Tags of ${frame.actor}/${frame.name}`,
    author: frame.actor,
    entries: refs.flatMap(({ name, revision, commit, annotation }) => {
      if (commit === null) return []
      const url = origin + revisionHref(frame.base, 'tree', revision)
      const says = annotation === null ? commit.subject : [annotation.subject, annotation.body].join('\n\n').trim()
      const { author, time } = entryOf(commit, frame, origin)
      return [
        {
          id: `${uriOf(frame)}#tag-${encodePath(name)}`,
          url,
          title: name,
          author: annotation?.tagger.name || author,
          time: annotation?.tagger.time ?? time,
          content: says,
        },
      ]
    }),
  })
}

/** The newest pushes to the repositories of an account. */
export function accountFeed({ actor, did, pushes }: AccountData, { origin }: Site): string {
  return atomFeed({
    id: `${did}#pushes`,
    url: origin + accountFeedHref(actor),
    page: origin + accountHref(actor),
    title: `Pushes of ${actor}`,
    author: actor,
    entries: pushes.map(({ repository, ref, refs, target, pushedAt }) => {
      const page = origin + repository.href
      const url = target === null ? page : `${page}/commit/${target}`
      const what = ref === null ? `${refs} refs` : shortName(ref)
      return {
        id: `${did}#${encodePath(repository.name)}/${encodePath(ref ?? 'refs')}-${pushedAt}`,
        url,
        title: `${repository.name}: ${what} ${ref !== null && target === null ? 'deleted' : 'moved'}`,
        author: actor,
        time: pushedAt,
        content: target === null ? '' : `${what} moved to ${target}`,
      }
    }),
  })
}

function entryOf({ oid, author, committer }: CommitInfo, frame: RepositoryFrame, origin: string) {
  const { base, actor } = frame
  return {
    id: `${uriOf(frame)}#${oid}`,
    url: origin + commitHref(base, oid),
    author: author.name.trim() || actor,
    time: committer.time,
  }
}

/**
 * Handles and names change, and so do edges: readers of a feed are to know again what they have read. A DID URL, since an at-URI is no
 * URI by RFC 3986 (its DID stands where a host and a port would) and Atom wants one.
 */
function uriOf({ did, rkey }: RepositoryFrame): string {
  return `${did}/${REPO_COLLECTION}/${rkey}`
}
