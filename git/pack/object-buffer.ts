import { OBJECT_HEADER_ROOM, objectHashInPlace } from '../object/hash-object.ts'
import type { ObjectType } from '../object/object-type.ts'

const INITIAL_BYTES = 64 * 1024

/** Room for one object after the other, so that making and hashing thousands of small ones allocates nothing. */
export class ObjectBuffer {
  #buffer = new Uint8Array(INITIAL_BYTES)

  /** How many bytes fit now. */
  get capacity(): number {
    return this.#buffer.length - OBJECT_HEADER_ROOM
  }

  get heldBytes(): number {
    return this.#buffer.byteLength
  }

  /** Goes back to little room. Views of before are good no more. */
  letGo(): void {
    if (this.#buffer.length > INITIAL_BYTES) this.#buffer = new Uint8Array(INITIAL_BYTES)
  }

  /** A view of `size` bytes, with what the last object left in them. It is good until the next call. */
  take(size: number): Uint8Array {
    if (size > this.capacity) this.#buffer = new Uint8Array(OBJECT_HEADER_ROOM + size)
    return this.#buffer.subarray(OBJECT_HEADER_ROOM, OBJECT_HEADER_ROOM + size)
  }

  /** A view of `size` bytes that starts with those of the view before. */
  extend(size: number): Uint8Array {
    const before = this.#buffer
    const view = this.take(size)
    if (before !== this.#buffer) this.#buffer.set(before)
    return view
  }

  /** The raw id of the object whose bytes are the first `size`. */
  hash(type: ObjectType, size: number): Uint8Array {
    return objectHashInPlace(type, this.#buffer, OBJECT_HEADER_ROOM, size)
  }
}
