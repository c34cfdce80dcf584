import { deflateSync } from 'node:zlib'
import type { Account } from '../dev/atmosphere.ts'
import { concatBytes } from '../git/bytes/concat.ts'
import { type Oid, oidToBytes, ZERO_OID } from '../git/bytes/oid.ts'
import { hashObject } from '../git/object/hash-object.ts'
import { BLOB, COMMIT, type ObjectType, TREE } from '../git/object/object-type.ts'
import { encodeEntryHeader } from '../git/pack/entry-header.ts'
import { PackSink } from '../git/pack/pack-sink.ts'
import { pktLine } from '../git/protocol/pkt-line.ts'

/** Files of the repository; each commit changes one of them. */
const FILES = 20
const MAIN = 'refs/heads/main'
const encoder = new TextEncoder()
const FLUSH = encoder.encode('0000')
const DELIMITER = encoder.encode('0001')

interface GitObject {
  readonly type: ObjectType
  readonly bytes: Uint8Array
}

/**
 * A repository at the edge that gets one small commit after the other, by bare requests: git itself would take longer
 * than what is to be measured.
 */
export class SmallPushes {
  readonly #url: string
  readonly #account: Account
  readonly #files: Oid[] = []
  #tip: Oid | null = null
  #parent: Oid | null = null
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
    const objects = this.#commit()
    const command = `${this.#parent ?? ZERO_OID} ${this.#tip} ${MAIN}\0report-status side-band-64k object-format=sha1`
    const { handle, password } = this.#account
    const answer = await this.#post('git-receive-pack', [pktLine(command), FLUSH, packOf(objects)], {
      Authorization: `Basic ${btoa(`${handle}:${password}`)}`,
    })
    if (!answer.includes(`ok ${MAIN}`)) throw new Error(`the push was not taken: ${answer}`)
    this.#pushes++
  }

  /** Fetches the last commit, as a client does that has the one before. @throws if no pack comes */
  async fetch(): Promise<void> {
    const lines = ['thin-pack', 'ofs-delta', 'no-progress', `want ${this.#tip}`, `have ${this.#parent}`, 'done']
    const request = [pktLine('command=fetch\n'), DELIMITER, ...lines.map((line) => pktLine(`${line}\n`)), FLUSH]
    const answer = await this.#post('git-upload-pack', request, { 'Git-Protocol': 'version=2' })
    if (!answer.includes('packfile') || !answer.includes('PACK')) throw new Error(`no pack came: ${answer}`)
  }

  /** The objects of the next commit: all files at first, then one of them, changed. */
  #commit(): GitObject[] {
    const isFirst = this.#tip === null
    const changed = isFirst ? Array.from({ length: FILES }, (_, file) => file) : [this.#pushes % FILES]
    const blobs = changed.map((file) => {
      const blob: GitObject = { type: BLOB, bytes: encoder.encode(`file ${file}\nas of push ${this.#pushes}\n`) }
      this.#files[file] = hashObject(blob.type, blob.bytes)
      return blob
    })
    const entries = this.#files.flatMap((oid, file) => [
      encoder.encode(`100644 file-${String(file).padStart(3, '0')}\0`),
      oidToBytes(oid),
    ])
    const tree: GitObject = { type: TREE, bytes: concatBytes(entries) }
    const parent = isFirst ? '' : `parent ${this.#tip}\n`
    const who = `Alice <alice@example.com> ${1_700_000_000 + this.#pushes} +0000`
    const text = `tree ${hashObject(TREE, tree.bytes)}\n${parent}author ${who}\ncommitter ${who}\n\npush ${this.#pushes}\n`
    const commit: GitObject = { type: COMMIT, bytes: encoder.encode(text) }
    this.#parent = this.#tip
    this.#tip = hashObject(COMMIT, commit.bytes)
    return [commit, tree, ...blobs]
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

function packOf(objects: readonly GitObject[]): Uint8Array {
  const sink = new PackSink()
  sink.header(objects.length)
  for (const { type, bytes } of objects) {
    sink.append(encodeEntryHeader(type, bytes.length))
    sink.append(deflateSync(bytes))
  }
  return concatBytes(sink.end())
}
