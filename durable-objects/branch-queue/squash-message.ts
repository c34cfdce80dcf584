import type { CommitGraph } from '../../git/graph/commit-graph.ts'
import { parseCommit } from '../../git/object/commit.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { COMMIT } from '../../git/object/object-type.ts'
import { readObject } from '../../git/object/read-object.ts'
import { parseSignature, zoneMinutes } from '../../git/object/signature.ts'
import { decodeText } from '../../git/object/text.ts'
import { missingCommits } from '../../git/walk/missing-commits.ts'
import { COMMIT_LIMITS, MOST_SQUASHED } from './limits.ts'

/**
 * The message of `git merge --squash`: which commits it is made of, newest first. A long one ends with how many more
 * there are.
 */
export async function squashMessage(
  objects: ObjectSource,
  graph: CommitGraph,
  source: number,
  onto: number,
): Promise<string> {
  const commits = newestFirst(graph, missingCommits(graph, [source], [onto]).commits)
  let message = 'Squashed commit of the following:\n'
  for (const [i, commit] of commits.entries()) {
    const entry = i < MOST_SQUASHED ? await describe(objects, graph.oid(commit)) : null
    if (entry === null || message.length + entry.length > COMMIT_LIMITS.messageBytes) {
      return `${message}\n(and ${commits.length - i} more)\n`
    }
    message += entry
  }
  return message
}

function newestFirst(graph: CommitGraph, commits: Uint32Array): number[] {
  return [...commits]
    .filter((commit) => graph.parents(commit).length < 2)
    .sort((a, b) => graph.time(b) - graph.time(a) || graph.generation(b) - graph.generation(a))
}

/** A commit as `git log` shows it. */
async function describe(objects: ObjectSource, oid: string): Promise<string> {
  const { author, message, encoding } = parseCommit(await readObject(objects, oid, COMMIT))
  const { name, email, time, zone } = parseSignature(author)
  const lines = decodeText(message, encoding).trimEnd().split('\n')
  const indented = lines.map((line) => `    ${line}`.trimEnd())
  const by = `${decodeText(name, encoding)} <${decodeText(email, encoding)}>`
  return ['', `commit ${oid}`, `Author: ${by}`, `Date:   ${dateOf(time ?? 0, zone)}`, '', ...indented, ''].join('\n')
}

/** `Tue Nov 14 23:13:20 2023 +0100` */
function dateOf(seconds: number, zone: string): string {
  const local = new Date((seconds + zoneMinutes(zone) * 60) * 1000)
  const [, weekday, day, month, year, time] = /^(\w+), 0?(\d+) (\w+) (\d+) ([\d:]+)/.exec(local.toUTCString()) ?? []
  return `${weekday} ${month} ${day} ${time} ${year} ${zone || '+0000'}`
}
