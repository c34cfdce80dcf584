import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Oid } from '../../git/bytes/oid.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { type GitObject, type ObjectType, parseObjectType } from '../../git/object/object-type.ts'

/** The objects of a repository of the real git, read through one `git cat-file --batch-command`. */
export class GitObjectSource implements ObjectSource {
  /** How many objects have been read whole. */
  reads = 0
  readonly #process: ChildProcessWithoutNullStreams
  readonly #answers: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(repository: string) {
    this.#process = spawn('git', ['cat-file', '--batch-command'], { cwd: repository })
    this.#answers = this.#process.stdout[Symbol.asyncIterator]()
  }

  read(oid: Oid): Promise<GitObject | null> {
    this.reads++
    return this.#inTurn(async () => {
      const header = await this.#ask(`contents ${oid}`)
      if (header === null) return null
      const bytes = await this.#take(header.size)
      await this.#take(1)
      return { type: header.type, bytes: new Uint8Array(bytes) }
    })
  }

  stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null> {
    return this.#inTurn(() => this.#ask(`info ${oid}`))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    await this.#last.catch(() => undefined)
    this.#process.stdin.end()
    await once(this.#process, 'close')
  }

  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('the source has been closed'))
    const answer = this.#last.then(ask)
    this.#last = answer
    return answer
  }

  async #ask(command: string): Promise<{ type: ObjectType; size: number } | null> {
    this.#process.stdin.write(`${command}\n`)
    while (!this.#rest.includes(0x0a)) await this.#more()
    const end = this.#rest.indexOf(0x0a)
    const [, name, size] = this.#rest.toString('latin1', 0, end).split(' ')
    this.#rest = this.#rest.subarray(end + 1)
    const type = parseObjectType(name ?? '')
    return type === null ? null : { type, size: Number(size) }
  }

  async #take(length: number): Promise<Buffer> {
    const parts = [this.#rest]
    let held = this.#rest.length
    while (held < length) {
      const part = await this.#next()
      parts.push(part)
      held += part.length
    }
    const all = Buffer.concat(parts)
    this.#rest = all.subarray(length)
    return all.subarray(0, length)
  }

  async #more(): Promise<void> {
    this.#rest = Buffer.concat([this.#rest, await this.#next()])
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#answers.next()
    if (done) throw new Error('git cat-file ended')
    return value
  }
}
