import { isOid, type Oid } from '../bytes/oid.ts'
import { checkText, FieldError } from './field-error.ts'
import { asciiText, firstHeader, type Header, readHeaders } from './header-lines.ts'
import { MalformedObjectError } from './malformed-object-error.ts'
import { serializeMessage } from './message.ts'
import { type ObjectType, objectTypeName, parseObjectType, TAG } from './object-type.ts'
import { type Person, serializeSignature } from './signature.ts'

/** An annotated tag. All text is bytes as the tag has them. */
export interface Tag {
  readonly target: Oid
  readonly targetType: ObjectType
  /** The tag's own idea of its name. */
  readonly name: Uint8Array
  /** The tagger line after its key; empty where there is none, as in tags from before 2005-07. */
  readonly tagger: Uint8Array
  readonly headers: readonly Header[]
  /** With a signature, where there is one, at its end. */
  readonly message: Uint8Array
}

const NOTHING = new Uint8Array(0)

/** @throws {@link MalformedObjectError} if the object, type and tag lines do not stand first. */
export function parseTag(bytes: Uint8Array): Tag {
  const { headers, messageAt } = readHeaders(bytes)
  const [object, type, name] = headers
  if (object?.key !== 'object') throw new MalformedObjectError(TAG, 'no object line')
  const target = asciiText(object.value)
  if (!isOid(target)) throw new MalformedObjectError(TAG, 'object line without an object id')
  if (type?.key !== 'type') throw new MalformedObjectError(TAG, 'no type line')
  const targetType = parseObjectType(asciiText(type.value))
  if (targetType === null) throw new MalformedObjectError(TAG, 'unknown object type')
  if (name?.key !== 'tag') throw new MalformedObjectError(TAG, 'no tag line')
  return {
    target,
    targetType,
    name: name.value,
    tagger: firstHeader(headers, 'tagger') ?? NOTHING,
    headers,
    message: bytes.subarray(messageAt),
  }
}

/** What an annotated tag is made of. */
export interface NewTag {
  readonly target: Oid
  readonly targetType: ObjectType
  /** Without `refs/tags/`; the caller has checked that a ref may have it. */
  readonly name: string
  readonly tagger: Person
  /** May be empty. A newline is put at its end where there is none. */
  readonly message: string
}

/** The bytes of an annotated tag, in UTF-8. @throws {@link FieldError} */
export function serializeTag({ target, targetType, name, tagger, message }: NewTag): Uint8Array {
  checkText(name, "the tag's name")
  if (name === '' || name.includes('\n')) throw new FieldError('a tag needs a name of one line')
  const lines = [
    `object ${target}`,
    `type ${objectTypeName(targetType)}`,
    `tag ${name}`,
    `tagger ${serializeSignature(tagger, 'tagger')}`,
  ]
  return new TextEncoder().encode(`${lines.join('\n')}\n\n${serializeMessage(message)}`)
}
