import { countOf, formatDay } from '../format.ts'
import { accountHref, withQuery } from '../hrefs.ts'
import type { AccountData } from '../load/account.ts'
import { shortName } from '../load/frame.ts'
import type { HomeData } from '../load/home.ts'
import type { ListedPush, ListedRepository } from '../load/listed.ts'
import type { SearchData } from '../load/search.ts'
import type { SignInData } from '../load/sign-in.ts'
import type { Site } from '../site.ts'
import { block, document, inline, link, list } from './markdown.ts'

export function homeText({ pushes, newest }: HomeData, site: Site): string {
  const { origin } = site
  return document(
    '# Skein',
    'Git that lives in your Atmosphere account, served from the edge.',
    list([
      `Clone a repository: \`git clone ${origin}/<handle>/<repository>\``,
      `Push to your account: \`git push ${origin}/<your handle>/<repository> main\` (user name: your handle; password: an app password)`,
      `Repositories of one: ${origin}/<handle>`,
      `Search: ${origin}/search?q=<words>`,
      `For agents: ${origin}/llms.txt`,
    ]),
    pushes.length > 0 && '## Newest pushes',
    pushList(pushes, origin),
    newest.length > 0 && '## Newest repositories',
    repositoryList(newest, origin),
  )
}

export function signInText({ guide }: SignInData, { origin }: Site): string {
  return document(
    '# Sign in',
    'Reading needs no account. Signing in by the browser is not there yet; git is, with your handle and an app password:',
    `\`git push ${origin}/<your handle>/<repository> main\``,
    `Agents and scripts commit with tokens of their own: ${origin}${guide}`,
  )
}

export function searchText({ query, topic, repositories, accounts, next }: SearchData, { origin }: Site): string {
  const what = [query, topic === null ? '' : `topic:${topic}`].filter(Boolean).join(' ')
  return document(
    what === '' ? '# Search' : `# Search: ${inline(what)}`,
    repositories.length + accounts.length === 0 && (what === '' ? 'Say what for: `?q=<words>`' : 'Nothing was found.'),
    accounts.length > 0 && '## Accounts',
    list(
      accounts.map(
        (found) =>
          `${link(found.actor, origin + found.href)}: ${countOf(found.repositories, 'repository', 'repositories')}`,
      ),
    ),
    repositories.length > 0 && '## Repositories',
    repositoryList(repositories, origin),
    next !== null &&
      `More: ${origin}${withQuery('/search', { q: query || undefined, topic: topic ?? undefined, after: next })}`,
  )
}

export function accountText(
  { actor, did, profile, repositories, next, pushes }: AccountData,
  { origin }: Site,
): string {
  const here = origin + accountHref(actor)
  return document(
    `# ${inline(actor)}`,
    did === actor ? null : `DID: ${did}`,
    profile.displayName === '' ? null : `Name: ${inline(profile.displayName)}`,
    profile.description === '' ? null : block(profile.description),
    repositories.length === 0
      ? `${inline(actor)} has no repositories here yet. A push to a name that is not taken creates one: \`git push ${here}/<repository> main\``
      : '## Repositories',
    repositories
      .map(({ name, href, description, pushedAt }) => {
        const when = pushedAt === null ? '' : `  Last push: ${formatDay(pushedAt)}\n`
        const about = description === null ? '' : `  ${inline(description)}\n`
        return `- ${link(name, origin + href)}\n${about}${when}  git clone ${origin}${href}\n`
      })
      .join(''),
    next !== null && `More: ${withQuery(here, { after: next })}`,
    pushes.length > 0 && '## Newest pushes',
    pushList(pushes, origin),
  )
}

function repositoryList(repositories: readonly ListedRepository[], origin: string): string {
  return list(
    repositories.map(({ actor, name, href, description }) => {
      const about = description === null ? '' : `: ${inline(description)}`
      return `${link(`${actor}/${name}`, origin + href)}${about}`
    }),
  )
}

function pushList(pushes: readonly ListedPush[], origin: string): string {
  return list(
    pushes.map(({ repository: { actor, name, href }, ref, refs, target, pushedAt }) => {
      const what =
        ref === null
          ? `${refs} refs moved`
          : target === null
            ? `${inline(shortName(ref))} was deleted`
            : `${inline(shortName(ref))} moved to ${target}`
      return `${link(`${actor}/${name}`, origin + href)}: ${what} on ${formatDay(pushedAt)}`
    }),
  )
}
