import type { Oid } from '../bytes/oid.ts'
import { isDirectory } from '../object/file-mode.ts'
import type { NewObject } from '../object/new-object.ts'
import { TREE } from '../object/object-type.ts'
import { TreeReader } from '../object/tree.ts'

/** Those of some new objects that a tree has in it, the tree itself included: others were made on the way to it. */
export function neededBy(tree: Oid, made: Iterable<NewObject>): NewObject[] {
  const known = new Map([...made].map((object) => [object.oid, object]))
  const needed = new Map<Oid, NewObject>()
  const waiting = [tree]
  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    const object = known.get(oid)
    if (object === undefined || needed.has(oid)) continue
    needed.set(oid, object)
    if (object.type !== TREE) continue
    const reader = new TreeReader(object.bytes)
    while (reader.next()) if (isDirectory(reader.mode) || known.has(reader.oid)) waiting.push(reader.oid)
  }
  return [...needed.values()]
}
