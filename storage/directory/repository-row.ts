import type { RepoRecord } from '../../atproto/records/record-types.ts'

/** What the table `repositories` says of a record by itself. */
export interface RepositoryRow {
  readonly name: string
  readonly words: string
  readonly record: string
}

export function repositoryRow(record: RepoRecord): RepositoryRow {
  return { name: record.name, words: nameWords(record.name), record: JSON.stringify(record) }
}

/**
 * What a name is found by: the name itself, its parts as they are written in camel case or beside digits, and all of it
 * without separators. `my-webApp2` is found by my, webapp2, web, app, 2 and mywebapp2.
 */
export function nameWords(name: string): string {
  const parts = name.split(/[._-]+/).filter((part) => part !== '')
  const pieces = parts.flatMap((part) => part.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g) ?? [])
  return [...new Set([...parts, ...pieces, parts.join('')].map((word) => word.toLowerCase()))].join(' ')
}
