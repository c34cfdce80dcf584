import type { Oid } from '../bytes/oid.ts'
import type { AdvertisedRefs } from './advertised-refs.ts'
import type { PktLineWriter } from './pkt-line-writer.ts'
import { ProtocolError } from './protocol-error.ts'

/** A ref that a client has asked for by its name (`want-ref`), and what it points at now. */
export interface WantedRef {
  readonly name: string
  readonly target: Oid
}

/** @throws {@link ProtocolError} for a name that is no ref. */
export function resolveWantedRefs(names: readonly string[], { head, refs }: AdvertisedRefs): WantedRef[] {
  if (names.length === 0) return []
  const targets = new Map<string, Oid | null>([['HEAD', head.target]])
  for (const { name, target } of refs) targets.set(name, target)
  return names.map((name) => {
    const target = targets.get(name) ?? null
    if (target === null) throw new ProtocolError(`unknown ref ${name}`)
    return { name, target }
  })
}

/** The lines of the section `wanted-refs`. */
export function writeWantedRefs(writer: PktLineWriter, refs: readonly WantedRef[]): void {
  for (const { name, target } of refs) writer.line(`${target} ${name}\n`)
}
