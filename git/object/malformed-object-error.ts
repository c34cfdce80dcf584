import { type ObjectType, objectTypeName } from './object-type.ts'

/** An object's bytes do not have the form of its type, so that nothing can be read from it. */
export class MalformedObjectError extends Error {
  override name = 'MalformedObjectError'
  readonly type: ObjectType

  constructor(type: ObjectType, reason: string) {
    super(`malformed ${objectTypeName(type)}: ${reason}`)
    this.type = type
  }
}
