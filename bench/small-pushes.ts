import type { Account } from '../dev/atmosphere.ts'
import { concatBytes } from '../git/bytes/concat.ts'
import { ZERO_OID } from '../git/bytes/oid.ts'
import { pktLine } from '../git/protocol/pkt-line.ts'
import { commitFlat, type FlatCommit, packOf } from './flat-commit.ts'

/** Files of the repository; each commit changes one of them. */
const FILES = 20
const MAIN = 'refs/heads/main'
const encoder = new TextEncoder()
const FLUSH = encoder.encode('0000')
const DELIMITER = encoder.encode('0001')

/**
 * A repository at the edge that gets one small commit after the other, by bare requests: git itself would take longer
 * than what is to be measured.
 */
export class SmallPushes {
  readonly #url: string
  readonly #account: Account
  #tip: FlatCommit | null = null
  #parent: FlatCommit | null = null
  #pushes = 0

  constructor(edgeUrl: string, account: Account, repository: string) {
    this.#url = `${edgeUrl}/${account.handle}/${repository}`
    this.#account = account
  }

  /** How many pushes there have been. */
  get pushes(): number {
    return this.#pushes
  }

  /** Pushes one commit more. @throws if it is not taken */
  async push(): Promise<void> {
    const commit = this.#commit()
    const from = this.#parent?.oid ?? ZERO_OID
    const command = `${from} ${commit.oid} ${MAIN}\0report-status side-band-64k object-format=sha1`
    const { handle, password } = this.#account
    const answer = await this.#post('git-receive-pack', [pktLine(command), FLUSH, packOf(commit.objects)], {
      Authorization: `Basic ${btoa(`${handle}:${password}`)}`,
    })
    if (!answer.includes(`ok ${MAIN}`)) throw new Error(`the push was not taken: ${answer}`)
    this.#pushes++
  }

  /** Fetches the last commit, as a client does that has the one before. @throws if no pack comes */
  async fetch(): Promise<void> {
    const oids = [`want ${this.#tip?.oid}`, `have ${this.#parent?.oid}`]
    const lines = ['thin-pack', 'ofs-delta', 'no-progress', ...oids, 'done']
    const request = [pktLine('command=fetch\n'), DELIMITER, ...lines.map((line) => pktLine(`${line}\n`)), FLUSH]
    const answer = await this.#post('git-upload-pack', request, { 'Git-Protocol': 'version=2' })
    if (!answer.includes('packfile') || !answer.includes('PACK')) throw new Error(`no pack came: ${answer}`)
  }

  /** The next commit: all files at first, then one of them, changed. */
  #commit(): FlatCommit {
    const files = this.#tip === null ? Array.from({ length: FILES }, (_, file) => file) : [this.#pushes % FILES]
    const commit = commitFlat({
      parent: this.#tip,
      write: new Map(
        files.map((file) => [`file-${String(file).padStart(3, '0')}`, `file ${file}\nas of push ${this.#pushes}\n`]),
      ),
      message: `push ${this.#pushes}`,
      time: 1_700_000_000 + this.#pushes,
    })
    this.#parent = this.#tip
    this.#tip = commit
    return commit
  }

  async #post(service: string, body: readonly Uint8Array[], headers: Record<string, string>): Promise<string> {
    const response = await fetch(`${this.#url}/${service}`, {
      method: 'POST',
      headers: { 'Content-Type': `application/x-${service}-request`, ...headers },
      body: concatBytes(body),
    })
    const answer = new TextDecoder('latin1').decode(await response.arrayBuffer())
    if (!response.ok) throw new Error(`${service}: ${response.status} ${answer}`)
    return answer
  }
}
