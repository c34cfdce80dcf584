/** The numbers that packs use; 0 and 5 are reserved, 6 and 7 are deltas. */
export const COMMIT = 1
export const TREE = 2
export const BLOB = 3
export const TAG = 4

export type ObjectType = typeof COMMIT | typeof TREE | typeof BLOB | typeof TAG
export type ObjectTypeName = 'commit' | 'tree' | 'blob' | 'tag'

const NAMES: Record<ObjectType, ObjectTypeName> = { [COMMIT]: 'commit', [TREE]: 'tree', [BLOB]: 'blob', [TAG]: 'tag' }

export function objectTypeName(type: ObjectType): ObjectTypeName {
  return NAMES[type]
}

/** The type with this name, or null: tag objects name the type of their target. */
export function parseObjectType(name: string): ObjectType | null {
  switch (name) {
    case 'commit':
      return COMMIT
    case 'tree':
      return TREE
    case 'blob':
      return BLOB
    case 'tag':
      return TAG
    default:
      return null
  }
}

/** An object whole: its type and its bytes as they are hashed, without the header. */
export interface GitObject {
  readonly type: ObjectType
  readonly bytes: Uint8Array
}
