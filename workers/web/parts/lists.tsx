import { withQuery } from '../hrefs.ts'
import { shortName } from '../load/frame.ts'
import type { ListedPush, ListedRepository } from '../load/listed.ts'
import { Name, When } from './name.tsx'

interface RepositoriesProps {
  readonly repositories: readonly ListedRepository[]
  /** Whether to say whose they are. Default true. */
  readonly hasOwners?: boolean
}

export function RepositoryList({ repositories, hasOwners = true }: RepositoriesProps) {
  return (
    <ul class="cards">
      {repositories.map(({ actor, name, href, description, topics, pushedAt }) => (
        <li>
          <h3>
            <a href={href}>
              {hasOwners && (
                <>
                  <Name>{actor}</Name>
                  <span class="slash"> / </span>
                </>
              )}
              <b>
                <Name>{name}</Name>
              </b>
            </a>
          </h3>
          {description && (
            <p>
              <Name>{description}</Name>
            </p>
          )}
          {topics.length > 0 && <Topics topics={topics} />}
          {pushedAt !== null && (
            <p class="by">
              Last push <When time={pushedAt} />
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}

export function Topics({ topics }: { readonly topics: readonly string[] }) {
  return (
    <ul class="topics" aria-label="Topics">
      {topics.map((topic) => (
        <li>
          <a href={withQuery('/search', { topic })}>
            <Name>{topic}</Name>
          </a>
        </li>
      ))}
    </ul>
  )
}

export function PushList({ pushes }: { readonly pushes: readonly ListedPush[] }) {
  return (
    <ol class="pushes">
      {pushes.map((push) => (
        <li>
          <p>
            <a href={push.repository.href}>
              <Name>{push.repository.actor}</Name>
              <span class="slash"> / </span>
              <b>
                <Name>{push.repository.name}</Name>
              </b>
            </a>
          </p>
          <p class="by">
            <Moved push={push} /> on <When time={push.pushedAt} />
          </p>
        </li>
      ))}
    </ol>
  )
}

function Moved({ push: { repository, ref, refs, target } }: { push: ListedPush }) {
  if (ref === null) return <>{`${refs} refs moved`}</>
  const name = <Name>{shortName(ref)}</Name>
  if (target === null) return <>{name} was deleted</>
  return (
    <>
      {name} moved to{' '}
      <a class="oid" href={`${repository.href}/commit/${target}`}>
        {target.slice(0, 8)}
      </a>
    </>
  )
}
