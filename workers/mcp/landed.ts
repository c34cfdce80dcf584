import type { ToolAnswer } from './tool.ts'

/** `dev.skein.gateway.defs#work` */
export interface Work {
  readonly ticket: string
  readonly state: 'landed' | 'waiting'
  readonly commit?: string
  readonly tree?: string
  readonly parent?: string
  readonly landing?: { readonly id: string; readonly commits: number }
  readonly ahead?: number
  readonly reason?: string
  readonly retryAfterSeconds?: number
}

/** What a model is told of work that was taken. @param branch as it was given */
export function workAnswer(branch: string, work: Work): ToolAnswer {
  return { text: [work.state === 'landed' ? landed(branch, work) : waiting(branch, work)], facts: { ...work } }
}

function landed(branch: string, { commit, parent, landing }: Work): string {
  const from = parent === undefined ? '' : `, before it at ${parent}`
  const together =
    landing !== undefined && landing.commits > 1 ? ` Landed together with ${landing.commits - 1} others.` : ''
  return `Landed: ${branch} is at commit ${commit}${from}.${together}`
}

function waiting(branch: string, { ticket, ahead = 0, reason, retryAfterSeconds = 1 }: Work): string {
  const why = reason === undefined ? `${ahead} are before it on ${branch}` : reason
  return `Not landed yet, but stored: do not hand it in again. It waits: ${why}. Ask get_landing with branch ${branch} and ticket ${ticket} in ${retryAfterSeconds} s.`
}
