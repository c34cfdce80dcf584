import { concatBytes } from '../../git/bytes/concat.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import { pktLine } from '../../git/protocol/pkt-line.ts'
import { commitFlat, type FlatCommit, packOf } from '../flat-commit.ts'
import { uploadPackRequest } from '../upload-pack-request.ts'
import type { GatewayAgent } from './gateway-agent.ts'

const FLUSH = new TextEncoder().encode('0000')
/** An agent that has lost so often loses for another reason. */
const MOST_PUSHES = 1_000

/** A branch on which agents race, and every commit that one of them has made for it: what a fetch brings is known here. */
export class Race {
  /** `/<handle>/<repository>` */
  readonly path: string
  /** Full name of the branch. */
  readonly ref: string
  readonly base: FlatCommit
  readonly #made = new Map<Oid, FlatCommit>()

  constructor(path: string, ref: string, base: FlatCommit) {
    this.path = path
    this.ref = ref
    this.base = base
    this.add(base)
  }

  add(commit: FlatCommit): void {
    this.#made.set(commit.oid, commit)
  }

  find(oid: Oid): FlatCommit {
    const commit = this.#made.get(oid)
    if (commit === undefined) throw new Error(`the branch is at ${oid}, which nobody has made`)
    return commit
  }
}

/**
 * Lands one commit as git does it: made on the tip, pushed from there, and where somebody else was first, after a look at
 * the refs and a fetch, made and pushed anew. The requests are git's, but git is not started for them: its start would
 * take longer than they do.
 *
 * @returns how many pushes that took
 */
export async function landBySwap(
  { connection, token }: GatewayAgent,
  race: Race,
  change: { readonly name: string; readonly content: string; readonly message: string },
): Promise<number> {
  const authorization = `Basic ${btoa(`agent:${token}`)}`
  let tip = race.base
  for (let pushes = 1; pushes <= MOST_PUSHES; pushes++) {
    const commit = commitFlat({
      parent: tip,
      write: new Map([[change.name, change.content]]),
      message: change.message,
      time: Math.floor(Date.now() / 1000),
    })
    race.add(commit)
    const command = pktLine(`${tip.oid} ${commit.oid} ${race.ref}\0report-status object-format=sha1`)
    const { status, body } = await connection.send(
      `${race.path}/git-receive-pack`,
      { Authorization: authorization, 'Content-Type': 'application/x-git-receive-pack-request' },
      concatBytes([command, FLUSH, packOf(commit.objects)]),
    )
    if (status !== 200) throw new Error(`a push was answered ${status}: ${body}`)
    if (body.includes(`ok ${race.ref}`)) return pushes
    tip = await fetchTip({ connection }, race, tip)
  }
  throw new Error(`not landed after ${MOST_PUSHES} pushes`)
}

/** The branch's tip, with a fetch of what it has since `known`. */
async function fetchTip(
  { connection }: Pick<GatewayAgent, 'connection'>,
  race: Race,
  known: FlatCommit,
): Promise<FlatCommit> {
  const ask = async ({ headers, body }: ReturnType<typeof uploadPackRequest>) => {
    const answer = await connection.send(`${race.path}/git-upload-pack`, headers, body)
    if (answer.status !== 200) throw new Error(`a fetch was answered ${answer.status}: ${answer.body}`)
    return answer.body
  }
  const refs = (await ask(uploadPackRequest('ls-refs', [`ref-prefix ${race.ref}`]))).toString()
  const oid = new RegExp(`([0-9a-f]{40}) ${race.ref}\n`).exec(refs)?.[1]
  if (oid === undefined) throw new Error(`no ${race.ref} in: ${refs}`)
  if (oid === known.oid) return known
  const pack = await ask(
    uploadPackRequest('fetch', ['thin-pack', 'ofs-delta', 'no-progress', `want ${oid}`, `have ${known.oid}`, 'done']),
  )
  if (!pack.includes('PACK')) throw new Error(`no pack came: ${pack}`)
  return race.find(oid)
}
