import type { PathConflict } from '../../durable-objects/branch-queue/answers.ts'
import { log } from '../../durable-objects/log.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { BLOB } from '../../git/object/object-type.ts'
import { decodeText, isUtf8 } from '../../git/object/text.ts'
import { pathJson } from '../xrpc/path-json.ts'

/** Bytes of a side that is told as text; a larger one is read by its id. */
const MAX_SIDE = 64 * 1024
/** Bytes of all sides of an answer. */
const MAX_SIDES = 1024 * 1024

/** What an answer says of conflicts: `dev.skein.gateway.defs#conflict`. */
export async function conflictsJson(
  conflicts: readonly PathConflict[],
  objects: ObjectSource,
): Promise<Record<string, unknown>[]> {
  const texts = new SideTexts(objects)
  const told: Record<string, unknown>[] = []
  for (const { path, kind, base, ours, theirs, merged } of conflicts) {
    told.push({
      ...pathJson(path),
      kind,
      base: await texts.side(base),
      ours: await texts.side(ours),
      theirs: await texts.side(theirs),
      merged: merged !== null && isUtf8(merged) ? decodeText(merged) : undefined,
    })
  }
  return told
}

class SideTexts {
  readonly #objects: ObjectSource
  #left = MAX_SIDES

  constructor(objects: ObjectSource) {
    this.#objects = objects
  }

  /** `dev.skein.gateway.defs#side`, or nothing where that side has nothing. */
  async side(oid: Oid | null): Promise<{ oid: Oid; text?: string } | undefined> {
    if (oid === null) return undefined
    const text = await this.#text(oid)
    return text === null ? { oid } : { oid, text }
  }

  async #text(oid: Oid): Promise<string | null> {
    try {
      const stat = await this.#objects.stat(oid)
      if (stat?.type !== BLOB || stat.size > Math.min(MAX_SIDE, this.#left)) return null
      const object = await this.#objects.read(oid)
      if (object === null || object.bytes.includes(0) || !isUtf8(object.bytes)) return null
      this.#left -= object.bytes.length
      return decodeText(object.bytes)
    } catch (error) {
      // What is refused, and why, is to be told in any case.
      log('side-unreadable', { oid, reason: String(error) })
      return null
    }
  }
}
