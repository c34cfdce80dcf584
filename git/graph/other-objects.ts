import { type BufferHolder, HeldArrays } from '../bytes/memory-account.ts'
import { ByteTable } from '../bytes/number-table.ts'
import { OID_BYTES, type Oid } from '../bytes/oid.ts'
import { OidTable } from '../bytes/oid-table.ts'
import { type ObjectType, objectTypeName } from '../object/object-type.ts'
import { PackError } from '../pack/entry-header.ts'
import { LINK_LIMITS, type LinkInput, type LinkState } from './link-files.ts'

const MISSING = 128

/** Objects that are in no part. Their numbers come after those of the parts' entries. */
export class OtherObjects implements BufferHolder {
  readonly #entries: number
  readonly #limit: number
  readonly #ids: OidTable
  /** By object: a bit for each type that it is expected to be of, and {@link MISSING}. */
  readonly #marks: ByteTable

  /** As a step has left them. */
  static async read({ parts, files, limits = LINK_LIMITS }: LinkInput, state: LinkState): Promise<OtherObjects> {
    const others = new OtherObjects(parts.entries, limits.others)
    const size = state.others * (OID_BYTES + 1)
    const bytes = size === 0 ? new Uint8Array(0) : await files.open(nameOf(state.othersFile), size).read(0, size)
    for (let i = 0; i < state.others; i++) {
      others.#ids.intern(bytes, i * OID_BYTES)
      others.#marks.set(i, bytes[state.others * OID_BYTES + i]!)
    }
    return others
  }

  private constructor(entries: number, limit: number) {
    this.#entries = entries
    this.#limit = limit
    this.#ids = new OidTable()
    this.#marks = new ByteTable(0)
  }

  get heldBytes(): number {
    return this.#ids.heldBytes + this.#marks.heldBytes
  }

  get size(): number {
    return this.#ids.size
  }

  /** Writes them for the next step. @returns what its state says of them */
  async write({ files, memory }: LinkInput, state: LinkState): Promise<Pick<LinkState, 'others' | 'othersFile'>> {
    const bytes = new Uint8Array(this.size * (OID_BYTES + 1))
    const held = memory.enter(new HeldArrays(bytes))
    bytes.set(this.#ids.view())
    for (let i = 0; i < this.size; i++) bytes[this.size * OID_BYTES + i] = this.#marks.get(i)
    const othersFile = state.othersFile + 1
    if (this.size > 0) await files.write(nameOf(othersFile), bytes)
    memory.leave(held)
    return { others: this.size, othersFile }
  }

  /** The number of the raw id at `at` of `bytes`. @throws {@link PackError} if there are too many */
  intern(bytes: Uint8Array, at = 0): number {
    const number = this.#entries + this.#ids.intern(bytes, at)
    if (this.size > this.#limit) {
      throw new PackError(`the pack's objects point at more than ${this.#limit} objects that it does not have`)
    }
    return number
  }

  has(number: number): boolean {
    return number >= this.#entries
  }

  oid(number: number): Oid {
    return this.#ids.oidAt(number - this.#entries)
  }

  bytes(number: number): Uint8Array {
    return this.#ids.bytesAt(number - this.#entries)
  }

  /** @param types a bit for each, see {@link typeBit} */
  expect(number: number, types: number): void {
    const place = number - this.#entries
    this.#marks.set(place, this.#marks.get(place) | types)
  }

  /** What an object is expected to be; 0: nobody points at it. */
  expected(number: number): number {
    return this.#marks.get(number - this.#entries) & ~MISSING
  }

  setMissing(number: number, isMissing: boolean): void {
    const place = number - this.#entries
    this.#marks.set(place, isMissing ? this.#marks.get(place) | MISSING : this.#marks.get(place) & ~MISSING)
  }

  isMissing(number: number): boolean {
    return (this.#marks.get(number - this.#entries) & MISSING) !== 0
  }

  *[Symbol.iterator](): Generator<number, void, undefined> {
    for (let place = 0; place < this.size; place++) yield this.#entries + place
  }
}

function nameOf(file: number): string {
  return `others-${file}`
}

export function typeBit(type: ObjectType): number {
  return 1 << type
}

/** What is wrong with an object of which something else is expected, in words. @returns null if nothing is. */
export function describeMistyped(oid: Oid, type: ObjectType, expected: number): string | null {
  if (expected === typeBit(type)) return null
  const others = expected & ~typeBit(type)
  const name = objectTypeName((31 - Math.clz32(others)) as ObjectType)
  return `${oid}: not a ${name}, or not everywhere, as what points at it says`
}
